// Sorts and filters the tables of the report, searches all its pages, marks in the contents where one is, and opens what
// is printed. Without scripts everything is shown all the same, in the order of the report.
"use strict";

const plain = (words) => words.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();

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

function makeFilterable(figure, table) {
  if (table.tBodies.length === 0 || table.rows.length <= LONG) return;
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Filter rows";
  field.setAttribute("aria-label", "Filter the rows of this table");
  field.className = "filter";
  field.addEventListener("input", () => {
    const words = plain(field.value).split(/\s+/).filter(Boolean);
    for (const body of table.tBodies) {
      const heading = body.querySelector(".group")?.textContent ?? "";
      for (const row of body.rows) {
        const group = row.classList.contains("group");
        row.hidden = !group && !words.every((word) => plain(`${heading} ${row.textContent}`).includes(word));
      }
    }
  });
  figure.insertBefore(field, figure.querySelector(".scroll"));
}

document.querySelectorAll("figure.table").forEach((figure) => {
  const table = figure.querySelector("table");
  makeSortable(table);
  makeFilterable(figure, table);
});

// ---- search ----

const MOST = 15; // results shown
const FOUND = { "section > h2": "Section", "section > h3": "Section", "article h3, article h4": "Claim or erratum",
  "figure.table > figcaption": "Table", "figure.drawing > figcaption": "Figure", ".terms > div": "Term" };

// What can be found in this file: its parts, claims, errata, tables, figures and terms.
function index() {
  return Object.entries(FOUND).flatMap(([selector, kind]) =>
    [...document.querySelectorAll(selector)].map((one) => {
      const place = one.closest("[id]");
      const text = one.textContent.replace(/\s+/g, " ").replace(/ #\s*$/, "");
      return [place.id, kind, text.trim()];
    }),
  );
}

function makeSearch(nav) {
  const entries = index().map(([place, kind, text]) => [place, kind, text, plain(`${place} ${text}`)]);
  const field = document.createElement("input");
  const list = document.createElement("ol");
  field.type = "search";
  field.placeholder = `Search this ${document.body.dataset.shown}`;
  field.setAttribute("aria-label", `${field.placeholder}: parts, claims, tables, figures and terms`);
  list.className = "results";
  list.setAttribute("aria-live", "polite");
  field.addEventListener("input", () => {
    const wanted = plain(field.value).split(/\s+/).filter(Boolean);
    const found = wanted.length === 0 ? [] : entries.filter(([, , , text]) => wanted.every((word) => text.includes(word)));
    list.replaceChildren(
      ...found.slice(0, MOST).map(([place, kind, text]) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = `#${place}`;
        link.textContent = `${kind}: ${text}`;
        item.append(link);
        return item;
      }),
    );
    if (wanted.length > 0 && found.length === 0) list.textContent = "Nothing was found.";
    if (found.length > MOST) list.insertAdjacentText("beforeend", `And ${found.length - MOST} more.`);
  });
  nav.querySelector(".brand").after(field, list);
}

makeSearch(document.querySelector("nav"));

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

// A link to a claim or an erratum opens it.
function openTarget() {
  const one = document.getElementById(location.hash.slice(1))?.querySelector(":scope > details");
  if (one) one.open = true;
}

openTarget();
addEventListener("hashchange", openTarget);

// ---- keyboard ----

// What can be scrolled sideways can be reached by the keyboard.
function reachScrolled() {
  document.querySelectorAll(".formula, .drawing .scroll").forEach((one) => {
    if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
    else one.removeAttribute("tabindex");
  });
}

reachScrolled();
addEventListener("resize", reachScrolled);
addEventListener("toggle", reachScrolled, true); // of details
