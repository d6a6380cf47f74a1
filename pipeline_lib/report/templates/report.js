// Sorts and filters the tables of the report, copies commands, marks in the contents where one is, and opens what a link
// leads to. Without scripts everything is shown all the same, in the order of the report.
"use strict";

// ---- words ----

// The words and numbers of a text, without accents and capitals.
const wordsOf = (text) =>
  text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().match(/\p{L}+|\d+(?:\.\d+)*/gu) ?? [];

// Plurals, and spellings of Britain and America, become one: it does not matter that the result is no word.
const SPELLINGS = [
  [/ies$/, "y"], [/(ss|x|ch)es$/, "$1"], [/(?<=..[^s])s$/, ""], // queries, losses, lists
  [/(?<=[a-z]{3})iz(?=[eai]|$)/, "is"], [/yz(?=e|ing)/, "ys"], // normalize, analyze
  [/(?<=[a-z]{3})our/, "or"], [/([bt])ered$/, "$1erd"], [/([bt])re(?=d?$)/, "$1er"], // colour, centred, centre
  [/dgement/, "dgment"], [/en[cs]e$/, "ens"], [/programme/, "program"], [/ogue$/, "og"], [/ll(?=ed$|ing$|er$)/, "l"],
];
const folded = (word) => SPELLINGS.reduce((found, [from, to]) => found.replace(from, to), word);

// ---- tables ----

// The number that a cell shows first, such as 1,234.5, −0.3 or 2.5e−7; null where it shows words.
function shownNumber(words) {
  const found = words.trim().replace(/[\u2212\u2013]/g, "-").match(/^[[(]?(-?[\d,]*\.?\d+)(?:e(-?\d+)| × 10(-?\d+))?/);
  return found === null ? null : Number(found[1].replaceAll(",", "") + "e" + (found[2] ?? found[3] ?? "0"));
}

function compared(one, other) {
  const [a, b] = [shownNumber(one), shownNumber(other)];
  if (a !== null && b !== null) return a - b;
  if (a !== null || b !== null) return a === null ? 1 : -1; // what does not apply comes last
  return one.localeCompare(other);
}

// Rows stay in their groups. A second click turns the order around.
function sort(table, column, button) {
  const falling = button.parentElement.getAttribute("aria-sort") === "ascending";
  table.querySelectorAll("thead th").forEach((head) => head.removeAttribute("aria-sort"));
  button.parentElement.setAttribute("aria-sort", falling ? "descending" : "ascending");
  for (const body of table.tBodies) {
    const rows = [...body.rows].filter((row) => !row.classList.contains("group"));
    const text = (row) => row.cells[column].innerText;
    rows.sort((a, b) => (falling ? -1 : 1) * compared(text(a), text(b)));
    body.append(...rows);
  }
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, column, button));
    head.append(button);
  });
}

const LONG = 12; // rows from which on a table can be filtered

// What the ledger can be filtered by beside words, and where a row, or the heading of its group, says it.
const LEDGER = {
  paper: ({ row }) => row.cells[0].textContent.trim().split("-")[0],
  status: ({ group }) => group.textContent.trim(),
  kind: ({ row }) => row.cells[3].textContent.trim(),
};

function filterField(tag, name, label) {
  const field = document.createElement(tag);
  field.name = name;
  field.setAttribute("aria-label", label);
  return field;
}

function makeChoice(name, values) {
  const field = filterField("select", name, `Filter by ${name}`);
  field.append(new Option(`Any ${name}`, ""), ...[...new Set(values)].sort().map((value) => new Option(value, value)));
  return field;
}

// The state of the ledger's filter is part of the address of the page, which can be copied and sent.
function keepState(figure, fields) {
  const known = new URLSearchParams(location.search);
  fields.forEach((field) => (field.value = known.get(field.name) ?? ""));
  return () => {
    const chosen = new URLSearchParams(fields.filter((field) => field.value).map((field) => [field.name, field.value]));
    history.replaceState(null, "", `${location.pathname}?${chosen}#${figure.id}`);
  };
}

function makeFilterable(figure, table) {
  if (table.tBodies.length === 0 || table.rows.length <= LONG) return;
  const isLedger = figure.id === "table-ledger";
  const rows = [...table.tBodies].flatMap((body) => {
    const group = body.querySelector(".group");
    const others = [...body.rows].filter((row) => row !== group);
    return others.map((row) => ({ row, group, words: wordsOf(`${group?.textContent ?? ""} ${row.textContent}`).map(folded).join(" ") }));
  });
  const field = filterField("input", "words", "Filter the rows of this table");
  const choices = isLedger ? Object.entries(LEDGER).map(([name, value]) => makeChoice(name, rows.map(value))) : [];
  const said = document.createElement("span");
  const box = document.createElement("div");
  field.type = "search";
  field.placeholder = "Filter rows";
  said.setAttribute("role", "status");
  box.className = "filter";
  box.append(said, ...choices, field);
  const show = () => {
    const words = wordsOf(field.value).map(folded);
    rows.forEach((one) => {
      const fits = choices.every((choice) => choice.value === "" || choice.value === LEDGER[choice.name](one));
      one.row.hidden = !fits || !words.every((word) => one.words.includes(word));
    });
    for (const body of table.tBodies) body.hidden = [...body.rows].every((row) => row.hidden || row.matches(".group"));
    const shown = rows.filter(({ row }) => !row.hidden).length;
    said.textContent = `${shown} of ${rows.length} ${isLedger ? "claims" : "rows"}`;
  };
  const fields = [...choices, field];
  const keep = isLedger ? keepState(figure, fields) : () => {};
  if (fields.some((one) => one.value)) show();
  fields.forEach((one) =>
    one.addEventListener("input", () => {
      show();
      keep();
    }),
  );
  figure.insertBefore(box, figure.querySelector(".scroll"));
}

document.querySelectorAll("figure.table").forEach((figure) => {
  const table = figure.querySelector("table");
  makeSortable(table);
  makeFilterable(figure, table);
});

// ---- commands ----

// The button copies the command before it; where the browser does not let it, the command is marked for the reader.
function makeCopied(box) {
  const code = box.querySelector("code");
  const button = document.createElement("button");
  const said = document.createElement("span");
  button.type = "button";
  button.textContent = "Copy the command";
  said.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    getSelection().selectAllChildren(code);
    try {
      await navigator.clipboard.writeText(code.textContent);
      said.textContent = "Copied. ";
    } catch {
      said.textContent = "Not copied by the browser, but selected. ";
    }
  });
  code.after(button, said);
}

document.querySelectorAll(".again").forEach(makeCopied);

// ---- where one is ----

const LINE = 120; // pixels below the upper edge of the window: what has begun above them is read

function markPlace(links) {
  const places = links.map((link) => document.getElementById(link.hash.slice(1)));
  const mark = () => {
    const begun = places.map((place) => place !== null && place.getBoundingClientRect().top < LINE);
    links.forEach((link, i) => {
      if (i === begun.lastIndexOf(true)) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    });
  };
  if (places.length > 0) addEventListener("scroll", mark, { passive: true });
  mark();
}

markPlace([...document.querySelectorAll('nav > ol ol a[href^="#"]')]);

// A link to a claim or an erratum opens it, and a link into what is folded opens that.
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  const closed = target?.querySelector(":scope > details") ?? target?.closest("details:not([open])");
  if (closed) closed.open = true;
}

openTarget();
addEventListener("hashchange", openTarget);

// ---- keyboard ----

// What can be scrolled sideways can be reached by the keyboard.
function reachScrolled() {
  document.querySelectorAll(".formula, pre").forEach((one) => {
    if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
    else one.removeAttribute("tabindex");
  });
}

reachScrolled();
addEventListener("resize", reachScrolled);
addEventListener("toggle", reachScrolled, true); // of details
