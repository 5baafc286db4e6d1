// Draws the grids of tasks when they come into view, and filters the tasks.
"use strict";
(() => {
  const lines = document.getElementById("data").textContent.trim().split("\n");
  const container = document.getElementById("cards");
  if (!container) return;
  const palette = JSON.parse(lines[0]).palette.map((rgb) => `rgb(${rgb.join(" ")})`);
  const cards = [...container.children];

  // The line between cells, as the public viewers of ARC have it.
  const LINE = "#555";
  // Cells that a layer does not paint.
  const NOTHING = -1;
  // Colours that are not in the palette.
  const OTHER = "#ffffff";

  /** Decodes the text `HEIGHTxWIDTH:CELLS` of a grid; one that is too large to draw has no cells. */
  function decode(text) {
    const [sides, packed] = text.split(":");
    const [height, width] = sides.split("x").map(Number);
    if (packed === undefined) return { height, width, cells: null };
    const cells = Int16Array.from(packed, (c) => {
      const code = c.charCodeAt(0);
      return code < 256 ? code - 48 : code - 384;
    });
    return { height, width, cells };
  }

  /** The data of a card; null if the page had no room for it. */
  function read(card) {
    const line = lines[Number(card.dataset.at) + 1];
    if (!line) return null;
    const data = JSON.parse(line);
    data.grids = data.grids.map(decode);
    return data;
  }

  const sameSize = (a, b) => a.height === b.height && a.width === b.width;

  /** The indices of the cells that differ from the expected grid; empty if the sizes differ. */
  function wrongCells(grid, expected) {
    const wrong = [];
    if (expected && grid.cells && expected.cells && sameSize(grid, expected)) {
      grid.cells.forEach((colour, at) => {
        if (colour !== expected.cells[at]) wrong.push(at);
      });
    }
    return wrong;
  }

  function element(name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  /** A canvas with the grid, in a box of this many points. */
  function draw(grid, wrong, box, isLayer = false) {
    const { width, height, cells } = grid;
    const side = Math.max(2, Math.min(24, Math.floor(box / Math.max(width, height))));
    const canvas = element("canvas");
    const ratio = Math.min(3, Math.max(1, window.devicePixelRatio || 1));
    canvas.style.width = `${width * side}px`;
    canvas.width = Math.round(width * side * ratio);
    canvas.height = Math.round(height * side * ratio);
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    const gap = side >= 5 ? 1 : 0;
    context.fillStyle = LINE;
    context.fillRect(0, 0, width * side, height * side);
    cells.forEach((colour, at) => {
      const x = (at % width) * side;
      const y = Math.floor(at / width) * side;
      if (isLayer && colour === NOTHING) {
        context.clearRect(x, y, side - gap, side - gap);
        return;
      }
      context.fillStyle = palette[colour] ?? OTHER;
      context.fillRect(x, y, side - gap, side - gap);
      if (palette[colour] === undefined && side >= 8) {
        context.fillStyle = "#000";
        context.font = `${Math.floor(side / 2)}px sans-serif`;
        context.textAlign = "center";
        context.textBaseline = "middle";
        context.fillText(String(colour), x + side / 2, y + side / 2, side - 2);
      }
    });
    mark(context, wrong, width, side);
    return canvas;
  }

  /** Marks cells with crosses that are visible on every colour; small cells with dots. */
  function mark(context, wrong, width, side) {
    const cross = side >= 8;
    const strokes = cross
      ? [["#000", Math.max(3, side / 5)], ["#fff", Math.max(1.5, side / 10)]]
      : [["#000", Math.max(1, side / 2)], ["#fff", Math.max(1, side / 4)]];
    for (const [colour, thickness] of strokes) {
      context.strokeStyle = colour;
      context.fillStyle = colour;
      context.lineWidth = thickness;
      context.lineCap = "round";
      context.beginPath();
      for (const at of wrong) {
        const x = (at % width) * side;
        const y = Math.floor(at / width) * side;
        if (cross) {
          const inset = side * 0.27;
          context.moveTo(x + inset, y + inset);
          context.lineTo(x + side - 1 - inset, y + side - 1 - inset);
          context.moveTo(x + side - 1 - inset, y + inset);
          context.lineTo(x + inset, y + side - 1 - inset);
        } else {
          const corner = (side - 1 - thickness) / 2;
          context.rect(x + corner, y + corner, thickness, thickness);
        }
      }
      if (cross) context.stroke();
      else context.fill();
    }
  }

  const size = (grid) => `${grid.height}×${grid.width}`;

  const count = (number, one) => `${number} ${one}${number === 1 ? "" : "s"}`;

  /** The text for an output, and its CSS class. */
  function verdict(data, place, expectedPlace) {
    if (place < 0 || expectedPlace < 0) return ["", ""];
    if (place === expectedPlace) return ["right", "right"];
    const [grid, expected] = [data.grids[place], data.grids[expectedPlace]];
    if (!sameSize(grid, expected)) return [`${size(grid)}, not ${size(expected)}`, "wrong"];
    if (!grid.cells) return ["", ""];
    return [`${count(wrongCells(grid, expected).length, "cell")} wrong`, "wrong"];
  }

  /** A grid with its name, its size and, if an expected grid is given, whether they are equal. */
  function figure(data, name, place, box, expectedPlace = -1, absent = "no grid", isLayer = false) {
    const made = element("span", "grid");
    const grid = data.grids[place];
    const [words, kind] = verdict(data, place, expectedPlace);
    const told = grid ? `${name}, ${count(grid.height, "row")} by ${count(grid.width, "column")}` : name;
    if (grid?.cells?.length) {
      const canvas = draw(grid, wrongCells(grid, data.grids[expectedPlace]), box, isLayer);
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", words ? `${told}, ${words}` : told);
      made.append(canvas);
    } else if (grid) {
      made.append(element("span", "absent", grid.cells ? "empty grid" : "too large to draw"));
    } else {
      made.append(element("span", "absent", absent));
    }
    made.append(element("span", "caption", grid ? `${name} ${size(grid)}` : name));
    if (words) made.append(element("span", `verdict ${kind}`, (kind === "right" ? "✓ " : "✗ ") + words));
    return made;
  }

  /** Shows the first test pair, which is what counts, while the card is closed. */
  function showPreview(card, data) {
    const at = data.pairs.length > data.trains ? data.trains : 0;
    const pair = data.pairs[at];
    if (!pair) return;
    const preview = card.querySelector(".preview");
    const box = 100;
    const best = data.best[0];
    preview.append(
      figure(data, "input", pair[0], box),
      figure(data, "expected", pair[1], box, -1, "not known"),
      figure(data, "best", best ? best[at] : -1, box, pair[1], best ? "no grid" : "no program"),
    );
    // The line below it says the same.
    preview.setAttribute("aria-hidden", "true");
  }

  /** Shows all pairs, with the outputs of the best programs and the submitted attempts. */
  function showPairs(card, data) {
    const pairs = card.querySelector(".pairs");
    const narrow = pairs.clientWidth < 600;
    const box = narrow ? Math.floor((pairs.clientWidth - 24) / 2) : 210;
    data.pairs.forEach(([input, expected], at) => {
      const test = at - data.trains;
      const name = test < 0 ? `train ${at + 1}` : `test ${test + 1}`;
      const section = element("section", "pair");
      section.append(element("h4", "", name));
      const row = element("div", "row");
      row.append(
        figure(data, "input", input, box),
        figure(data, "expected", expected, box, -1, "not known"),
        element("span", "then"),
      );
      data.best.forEach((outputs, rank) => {
        row.append(figure(data, `#${rank + 1}`, outputs[at], box, expected));
      });
      const attempts = data.attempts[test] ?? [];
      if (attempts.length) row.append(element("span", "then"));
      attempts.forEach((attempt, number) => {
        row.append(figure(data, `attempt ${number + 1}`, attempt, box, expected));
      });
      section.append(row);
      pairs.append(section);
    });
  }

  /** Shows all pairs of a searched task; for each test pair the attempts, layer by layer. */
  function showAttempts(card, data) {
    const pairs = card.querySelector(".pairs");
    const box = pairs.clientWidth < 600 ? Math.floor((pairs.clientWidth - 24) / 2) : 150;
    const section = (name, figures) => {
      const made = element("section", "pair");
      made.append(element("h4", "", name));
      const row = element("div", "row");
      row.append(...figures);
      made.append(row);
      pairs.append(made);
    };
    data.pairs.forEach(([input, expected], at) => {
      const test = at - data.trains;
      section(test < 0 ? `train ${at + 1}` : `test ${test + 1}`, [
        figure(data, "input", input, box),
        figure(data, "expected", expected, box, -1, "not known"),
      ]);
      if (test < 0) return;
      data.layers.forEach((layers, rank) => {
        section(`test ${test + 1}, attempt ${rank + 1}`, [
          ...layers.map((places, number) =>
            figure(data, `layer ${number + 1}`, places[test], box, -1, "not painted", true),
          ),
          element("span", "then"),
          figure(data, "output", data.best[rank][at], box, expected),
        ]);
      });
    });
  }

  function show(card, selector, shown) {
    if (card.querySelector(selector).firstChild) return;
    const data = read(card);
    if (data) shown(card, data);
  }

  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        show(target, ".preview", showPreview);
      }
    },
    { rootMargin: "600px" },
  );
  for (const card of cards) {
    observer.observe(card);
    const details = card.querySelector("details");
    details.addEventListener("toggle", () => {
      if (details.open) show(card, ".pairs", (card, data) => (data.layers ? showAttempts : showPairs)(card, data));
    });
  }

  const filters = document.getElementById("filters");
  const shown = document.getElementById("shown");
  const nothing = document.getElementById("nothing");
  const score = (card) => Number(card.dataset.score);
  const id = (card) => card.querySelector("h3").textContent;
  const orders = {
    "": (a, b) => a.dataset.at - b.dataset.at,
    id: (a, b) => (id(a) < id(b) ? -1 : 1),
    low: (a, b) => score(a) - score(b) || a.dataset.at - b.dataset.at,
    high: (a, b) => score(b) - score(a) || a.dataset.at - b.dataset.at,
  };
  let order = "";

  function choose() {
    const asked = new FormData(filters);
    const [state, outcome] = [asked.get("state"), asked.get("outcome")];
    const words = asked.get("text").toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const card of cards) {
      const { dataset } = card;
      const fits =
        (!state || dataset.state === state) &&
        (!outcome || dataset.outcomes.split(" ").includes(outcome)) &&
        words.every((word) => dataset.find.includes(word));
      card.hidden = !fits;
      if (fits) found += 1;
    }
    if (order !== asked.get("order")) {
      order = asked.get("order");
      container.append(...[...cards].sort(orders[order]));
    }
    shown.textContent = `${found} of ${count(cards.length, "task")}`;
    nothing.hidden = found > 0;
  }

  filters.addEventListener("input", choose);
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.hidden = false;
  choose();

  /** Opens the task in the URL's fragment. */
  function openNamed() {
    const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const details = named?.matches(".task") ? named.querySelector("details") : null;
    if (details) {
      details.open = true;
      named.scrollIntoView();
    }
  }
  window.addEventListener("hashchange", openNamed);
  openNamed();
})();
