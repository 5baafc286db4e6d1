//! The activity of each device: how busy it was, where the time of its batches went, what it waited for.

use std::fmt::Write;

use mega_batch::Stages;

use super::document::{DeviceActivity, Document};
use super::html::{Plain, add, time};
use crate::table::thousands;

/// The devices; empty if none did anything.
pub(super) fn devices(document: &Document) -> String {
    let device = document
        .backend
        .as_ref()
        .and_then(|backend| backend.device.as_ref());
    let Some(device) = device.filter(|device| device.activities.total > 0) else {
        return String::new();
    };
    let mut html = format!(
        "<section id=\"devices\" class=\"panel\"><h2>Devices <span class=\"total\">{}</span></h2>\
         <p>{} evaluations of {} programs on devices",
        device.activities.total,
        thousands(device.evaluations),
        thousands(device.programs)
    );
    if device.launches_halved > 0 {
        let halved = thousands(device.launches_halved);
        add!(
            html,
            "; {halved} batches were made in halves, since memory was too small"
        );
    }
    html += ".</p>\n";
    for activity in &device.activities.kept {
        html += &one(activity);
    }
    if device.activities.left_out() > 0 {
        add!(
            html,
            "<p class=\"none\">and {} more</p>",
            device.activities.left_out()
        );
    }
    html + "</section>\n"
}

fn one(device: &DeviceActivity) -> String {
    let activity = device.activity();
    let Stages {
        prepare,
        upload,
        compute,
        download,
    } = activity.stages;
    let mut html = format!(
        "<div class=\"device\"><h3>{}</h3><p>{} evaluations in {} batches over {}, \
         {:.1} MiB in use at most. <strong>{}</strong></p><ul class=\"stages\">",
        device.name,
        thousands(activity.items),
        thousands(activity.batches),
        time(activity.elapsed.as_secs_f64()),
        activity.memory.most as f64 / f64::from(1 << 20),
        Plain(&activity.to_string())
    );
    let stages = [
        ("prepare", prepare),
        ("upload", upload),
        ("compute", compute),
        ("download", download),
    ];
    // The stages of two batches overlap, so that each is shown as a share of the elapsed time.
    let longest = stages
        .iter()
        .map(|&(_, time)| time)
        .max()
        .unwrap_or_default();
    let whole = activity
        .elapsed
        .max(longest)
        .as_secs_f64()
        .max(f64::MIN_POSITIVE);
    for (stage, spent) in stages {
        let seconds = spent.as_secs_f64();
        add!(
            html,
            "<li><span>{stage}</span><svg class=\"line\" viewBox=\"0 0 100 4\" \
             preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect class=\"rest\" width=\"100\" \
             height=\"4\"/><rect class=\"{stage}\" width=\"{:.1}\" height=\"4\"/></svg><b>{}</b></li>",
            100.0 * seconds / whole,
            time(seconds)
        );
    }
    html + "</ul></div>\n"
}
