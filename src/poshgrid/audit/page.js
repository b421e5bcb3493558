"use strict";

/* A spreadsheet would compute a text that begins so: poshgrid.audit.sheet has the same rule. */
const FORMULA = /^'*(?:[\t\r\n]|[ \u00a0]*[=+\-@＝＋－＠])/;

function guarded(text) {
  return FORMULA.test(text) ? "'" + text : text;
}

/* A sentence is known by its number and its text: another corpus may give the number to another. */
function sentence(row) {
  return row[1] + " " + row[4];
}

/* Return the annotated sheet, cell for cell as poshgrid.audit.sheet writes the blank one. */
function sheet(columns, rows, state) {
  const lines = rows.map((row) => {
    const { label = "", note = "" } = state[sentence(row)] || {};
    return [...row.slice(0, -2), label, guarded(note)];
  });
  const quoted = (cell) => '"' + String(cell).replaceAll('"', '""') + '"';
  return "\ufeff" + [columns, ...lines].map((line) => line.map(quoted).join(",") + "\r\n").join("");
}

/* Return how many sentences have a label, and how many have each. */
function count(rows, state) {
  const found = { labelled: 0, yes: 0, no: 0, unsure: 0 };
  for (const row of rows) {
    const label = (state[sentence(row)] || {}).label;
    if (label) {
      found.labelled += 1;
      found[label] += 1;
    }
  }
  return found;
}

function start() {
  const { file, store, columns, rows } = JSON.parse(document.getElementById("data").textContent);
  const items = [...document.querySelectorAll(".item")];
  let state = {};
  let current = -1;
  let kept = true;
  let unsaved = false;

  try {
    state = JSON.parse(localStorage.getItem(store)) || {};
  } catch {
    kept = false;
  }

  function save() {
    try {
      localStorage.setItem(store, JSON.stringify(state));
    } catch {
      kept = false;
    }
    unsaved = true;
    document.getElementById("not-kept").hidden = kept;
    progress();
  }

  function progress() {
    const { labelled, yes, no, unsure } = count(rows, state);
    document.getElementById("progress").textContent =
      `${labelled} of ${rows.length} labelled: ${yes} yes, ${no} no, ${unsure} unsure`;
  }

  function entry(index) {
    return (state[sentence(rows[index])] ||= {});
  }

  function show(index) {
    const { label = "", note = "" } = state[sentence(rows[index])] || {};
    for (const radio of items[index].querySelectorAll("input[type=radio]")) {
      radio.checked = radio.value === label;
    }
    items[index].querySelector(".note").value = note;
  }

  function setLabel(index, label) {
    entry(index).label = label;
    show(index);
    save();
  }

  function go(index) {
    if (items[index]) {
      items[index].focus();
    }
  }

  function goToUnlabelled() {
    const after = (index) => (index + current + 1) % rows.length;
    const order = rows.map((_, index) => after(index));
    const index = order.find((i) => !(state[sentence(rows[i])] || {}).label);
    if (index !== undefined) {
      go(index);
    }
  }

  items.forEach((item, index) => {
    item.addEventListener("focusin", () => (current = index));
    item.addEventListener("change", (event) => {
      if (event.target.type === "radio") {
        setLabel(index, event.target.value);
      }
    });
    item.querySelector(".note").addEventListener("input", (event) => {
      entry(index).note = event.target.value;
      save();
    });
    item.querySelector(".unset").addEventListener("click", () => setLabel(index, ""));
    show(index);
  });

  document.addEventListener("keydown", (event) => {
    const writing = event.target.matches("input[type=text]");
    if (event.key === "Escape" && writing) {
      go(current);
    }
    const modified = event.ctrlKey || event.metaKey || event.altKey;
    if (writing || modified || !document.getElementById("shortcuts").checked) {
      return;
    }
    const label = { y: "yes", n: "no", u: "unsure", 0: "" }[event.key.toLowerCase()];
    if (label !== undefined && items[current]) {
      setLabel(current, label);
      if (label) {
        go(current + 1);
      }
    } else if (event.key === "j") {
      go(current + 1);
    } else if (event.key === "k") {
      go(current - 1);
    } else if (event.key === "g") {
      goToUnlabelled();
    } else if (event.key === "m" && items[current]) {
      items[current].querySelector(".note").focus();
    } else {
      return;
    }
    event.preventDefault();
  });

  document.getElementById("next").addEventListener("click", goToUnlabelled);
  document.getElementById("clear").addEventListener("click", () => {
    if (confirm("Take all labels and notes of this sheet away?")) {
      state = {};
      items.forEach((_, index) => show(index));
      save();
    }
  });
  document.getElementById("export").addEventListener("click", () => {
    const link = document.createElement("a");
    const text = sheet(columns, rows, state);
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
    link.download = file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    unsaved = false;
  });
  addEventListener("beforeunload", (event) => {
    if (unsaved && !kept) {
      event.preventDefault();
    }
  });
  document.getElementById("not-kept").hidden = kept;
  progress();
}

if (typeof document !== "undefined") {
  start();
} else {
  module.exports = { count, guarded, sheet };
}
