//! [`Page`]: a page in a headless Chromium, driven by its debugging protocol over two pipes, with a zero byte after
//! each JSON object. The method names in the calls are the protocol's.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The result of a step in the browser, or why it failed.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// How long to wait for an answer, or for a state of the page.
const PATIENCE: Duration = Duration::from_secs(20);

/// The usual names of Chromium; `CHROMIUM` may name another.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// The program, if there is one.
pub(crate) fn find() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").filter(|named| !named.is_empty());
    if let Some(named) = named {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let mut found = NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    found.find(|file| file.is_file())
}

/// A page and its browser, which ends with it.
pub(crate) struct Page {
    browser: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: Option<String>,
    calls: u64,
    /// Events received between answers.
    events: Vec<Value>,
    /// Settings and caches, not shared with other browsers.
    _profile: TempDir,
}

impl Page {
    /// An empty page in a new browser.
    pub(crate) fn open(program: &Path) -> Result<Self> {
        let profile = tempfile::tempdir().map_err(told)?;
        // Chromium reads calls from descriptor 3 and writes to 4.
        let mut browser = Command::new("sh")
            .args([
                "-c",
                "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1",
            ])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(told)?;
        let (Some(to), Some(out)) = (browser.stdin.take(), browser.stdout.take()) else {
            return Err("the browser has no pipes".to_owned());
        };
        let (send, from) = channel();
        std::thread::spawn(move || {
            let mut out = BufReader::new(out);
            let mut message = Vec::new();
            while out
                .read_until(0, &mut message)
                .is_ok_and(|length| length > 0)
            {
                message.pop();
                let parsed = serde_json::from_slice(&message);
                if !parsed.is_ok_and(|message| send.send(message).is_ok()) {
                    return;
                }
                message.clear();
            }
        });
        let mut page = Self {
            browser,
            to,
            from,
            session: None,
            calls: 0,
            events: Vec::new(),
            _profile: profile,
        };
        let target = page.call("Target.createTarget", &json!({"url": "about:blank"}))?;
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let attached = page.call("Target.attachToTarget", &target)?;
        page.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.call(&format!("{domain}.enable"), &json!({}))?;
        }
        Ok(page)
    }

    /// Calls a method of the protocol.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        self.calls += 1;
        let id = self.calls;
        let mut call = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            call["sessionId"] = json!(session);
        }
        let written = self.to.write_all(format!("{call}\0").as_bytes());
        written.and_then(|()| self.to.flush()).map_err(told)?;
        let began = Instant::now();
        loop {
            let mut message = self
                .next(began)
                .map_err(|error| format!("{method}: {error}"))?;
            if message["id"] == id {
                return match message.get("error") {
                    Some(error) => Err(format!("{method}: {error}")),
                    None => Ok(message["result"].take()),
                };
            }
            self.events.push(message);
        }
    }

    fn next(&mut self, began: Instant) -> Result<Value> {
        let left = PATIENCE.saturating_sub(began.elapsed());
        self.from.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("no answer within {PATIENCE:?}"),
            RecvTimeoutError::Disconnected => "the browser has ended".to_owned(),
        })
    }

    /// Sets the window's size in points; a narrow one is a phone's.
    pub(crate) fn resize(&mut self, width: u32, height: u32) -> Result<()> {
        let mobile = width < 500;
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile});
        self.call("Emulation.setDeviceMetricsOverride", &metrics)
            .map(drop)
    }

    /// Sets the colour scheme that the user prefers, `light` or `dark`.
    pub(crate) fn prefer(&mut self, scheme: &str) -> Result<()> {
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        self.call(
            "Emulation.setEmulatedMedia",
            &json!({"features": [feature]}),
        )
        .map(drop)
    }

    /// Goes to an address and waits until it is loaded.
    pub(crate) fn go(&mut self, address: &str) -> Result<()> {
        self.events.clear();
        let gone = self.call("Page.navigate", &json!({"url": address}))?;
        if let Some(error) = gone["errorText"].as_str() {
            return Err(format!("{address}: {error}"));
        }
        let began = Instant::now();
        let loaded = |event: &Value| event["method"] == "Page.loadEventFired";
        while !self.events.iter().any(loaded) {
            let event = self.next(began)?;
            self.events.push(event);
        }
        Ok(())
    }

    /// The value of an expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Result<Value> {
        let parameters =
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.call("Runtime.evaluate", &parameters)?;
        match answer.get("exceptionDetails") {
            Some(exception) => Err(format!("{expression}: {exception}")),
            None => Ok(answer["result"]["value"].take()),
        }
    }

    /// Waits until an expression in the page is true.
    pub(crate) fn wait_for(&mut self, expression: &str) -> Result<()> {
        let began = Instant::now();
        while self.evaluate(expression)? != json!(true) {
            if began.elapsed() > PATIENCE {
                return Err(format!("not within {PATIENCE:?}: {expression}"));
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Clicks in the middle of the first element that matches this selector.
    pub(crate) fn click(&mut self, selector: &str) -> Result<()> {
        let middle = self.evaluate(&format!(
            "(() => {{ const found = document.querySelector({}); \
             found.scrollIntoView({{block: 'center', behavior: 'instant'}}); \
             const box = found.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
            json!(selector)
        ))?;
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": middle[0], "y": middle[1], "button": "left",
                "clickCount": 1});
            self.call("Input.dispatchMouseEvent", &event)?;
        }
        Ok(())
    }

    /// Presses a key, given its name and code in the protocol.
    pub(crate) fn press(&mut self, key: &str, code: u32, text: &str) -> Result<()> {
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({"type": kind, "key": key, "code": key,
                "windowsVirtualKeyCode": code});
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", &event)?;
        }
        Ok(())
    }

    /// Types text into the focused element.
    pub(crate) fn write(&mut self, text: &str) -> Result<()> {
        self.call("Input.insertText", &json!({"text": text}))
            .map(drop)
    }

    /// The page's errors since it was loaded, and its network requests.
    pub(crate) fn complaints(&mut self) -> Result<Vec<String>> {
        // Events sent earlier arrive before this answer.
        self.evaluate("new Promise(done => setTimeout(done, 50))")?;
        let complaint = |event: &Value| {
            let parameters = &event["params"];
            let address = parameters["request"]["url"].as_str().unwrap_or_default();
            let is_own = parameters["type"] == "Document" || address.starts_with("data:");
            match event["method"].as_str()? {
                "Network.requestWillBeSent" if is_own => None,
                "Runtime.consoleAPICalled"
                | "Runtime.exceptionThrown"
                | "Log.entryAdded"
                | "Network.requestWillBeSent" => Some(event.to_string()),
                _ => None,
            }
        };
        Ok(self.events.iter().filter_map(complaint).collect())
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.session = None;
        // It ends its own processes when asked to; if it does not answer, it is killed.
        let asked = self.call("Browser.close", &json!({}));
        let began = Instant::now();
        while asked.is_ok() && began.elapsed() < Duration::from_secs(5) {
            if matches!(self.browser.try_wait(), Ok(Some(_))) {
                return;
            }
            sleep(Duration::from_millis(10));
        }
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}

fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}
