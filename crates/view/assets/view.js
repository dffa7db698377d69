"use strict";
(() => {
  const PERIOD = 1000;
  const token = document.querySelector(".panes").dataset.token;
  const time = (s) => {
    if (s === null || s === undefined) return "";
    if (s < 90) return `${Math.max(1, Math.round(s))} s`;
    if (s < 5400) return `${Math.round(s / 60)} min`;
    return `${(s / 3600).toFixed(1)} h`;
  };
  const simulated = (ns) => (ns < 1e6 ? `${(ns / 1e3).toFixed(0)} µs` : ns < 1e9 ? `${(ns / 1e6).toFixed(1)} ms` : `${(ns / 1e9).toFixed(2)} s`);
  const element = (tag, text, attributes = {}) => {
    const made = document.createElement(tag);
    made.textContent = text;
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    return made;
  };
  const say = (where, text) => { if (where.textContent !== text) where.textContent = text; };

  // A pane shows one run folder.
  const pane = (section) => {
    const letter = section.dataset.letter;
    const find = (selector) => section.querySelector(selector);
    const state = { stamp: null, loading: false, next: 0, classes: "", asked: 0 };

    // What a reader has chosen in the page of results, and where it is scrolled to.
    const chosen = (frame) => {
      const inner = frame.contentDocument;
      if (!inner || !inner.body || !inner.getElementById("data")) return null;
      return {
        scroll: frame.contentWindow.scrollY,
        fields: [...inner.querySelectorAll("select, input")].map((field) => [field.value, field.checked]),
        chips: [...inner.querySelectorAll(".chip")].map((chip) => [chip.textContent, chip.getAttribute("aria-pressed")]),
        open: [...inner.querySelectorAll("details")].map((one) => [one.querySelector("summary").textContent.replace(/\d+/g, ""), one.open]),
      };
    };
    const choose = (frame, before) => {
      const inner = frame.contentDocument;
      const wanted = new Map(before.chips);
      // A click makes all chips anew.
      wanted.forEach((pressed, text) => {
        const chip = [...inner.querySelectorAll(".chip")].find((one) => one.textContent === text);
        if (chip && chip.getAttribute("aria-pressed") !== pressed) chip.click();
      });
      const fields = [...inner.querySelectorAll("select, input")];
      if (fields.length === before.fields.length)
        fields.forEach((field, i) => {
          const [value, checked] = before.fields[i];
          if (field.value === value && field.checked === checked) return;
          if (field.tagName === "SELECT" && ![...field.options].some((option) => option.value === value)) return;
          field.value = value;
          if ("checked" in field) field.checked = checked;
          field.dispatchEvent(new Event(field.type === "search" ? "input" : "change"));
        });
      const open = new Map(before.open);
      inner.querySelectorAll("details").forEach((one) => {
        const was = open.get(one.querySelector("summary").textContent.replace(/\d+/g, ""));
        if (was !== undefined) one.open = was;
      });
      frame.contentWindow.scrollTo(0, before.scroll);
    };
    // The new page is loaded behind the old one, so that nothing flickers; not so often that the run would feel it.
    const reload = (stamp) => {
      const began = performance.now();
      if (state.loading || began < state.next) return;
      state.loading = true;
      const old = find("iframe");
      const next = old.cloneNode();
      next.className = "next";
      next.src = `/${letter}/?${encodeURIComponent(stamp)}`;
      next.addEventListener("load", () => {
        const before = chosen(old);
        next.className = "";
        old.remove();
        if (before) choose(next, before);
        state.stamp = stamp;
        state.loading = false;
        state.next = performance.now() + 10 * (performance.now() - began);
      }, { once: true });
      old.after(next);
    };

    const slowest = async () => {
      const list = find(".slowest .list");
      list.replaceChildren(element("p", "reading the finished points …", { class: "busy" }));
      const asked = (state.asked += 1);
      const answer = await fetch(`/${letter}/slowest.json?class=${encodeURIComponent(find("select").value)}`);
      const flows = answer.ok ? await answer.json() : [];
      // What was asked for later is what is shown.
      if (asked !== state.asked) return;
      if (!answer.ok) return list.replaceChildren(element("p", "No flow that fits has finished.", { class: "busy" }));
      const table = element("table", "", { class: "data" });
      const head = table.createTHead().insertRow();
      ["FCT", "flow", "scheme", "values", "seed", ""].forEach((text) => head.append(element("th", text)));
      const body = table.createTBody();
      flows.forEach((slow) => {
        const row = body.insertRow();
        [`${(slow.fct_ns / 1e6).toPrecision(4)} ms`, slow.flow, slow.scheme, slow.values.join(", "), slow.seed].forEach((text) => row.append(element("td", String(text))));
        const cell = row.insertCell();
        const link = `/${letter}/explain?point=${encodeURIComponent(slow.point)}&flow=${slow.flow}&token=${token}`;
        cell.append(element("a", "why?", { href: link, target: "_blank", rel: "noopener", title: "simulates the point again: that takes as long as the point took, or longer" }));
      });
      list.replaceChildren(table);
    };
    find(".slowest").addEventListener("toggle", () => { if (find(".slowest").open) slowest(); });
    find("select").addEventListener("change", slowest);

    const list = (details, words, entries) => {
      details.hidden = entries.length === 0;
      say(details.querySelector("summary"), words);
      details.querySelector("ul").replaceChildren(...entries);
    };
    const show = (run) => {
      if (run.gone) return say(find(".status"), run.gone);
      say(find("h1"), run.title);
      say(find(".folder"), run.folder);
      const classes = run.classes.join("\n");
      if (classes !== state.classes) {
        state.classes = classes;
        find("select").replaceChildren(new Option("all flows", ""), ...run.classes.map((name) => new Option(name, name)));
      }
      const far = run.under_way.reduce((sum, one) => sum + one.fraction, run.finished);
      find(".progress-line progress").value = run.points ? far / run.points : 0;
      const left = run.left_s === null ? "" : `, about ${time(run.left_s)} left`;
      const bad = run.failed.length ? `, ${run.failed.length} failed` : "";
      const idle = run.under_way.length === 0 && run.finished + run.failed.length < run.points ? ", nothing is under way" : "";
      say(find(".status"), `${run.finished} of ${run.points} points${bad}${left}${idle}`);
      list(find(".under-way"), `Under way (${run.under_way.length})`, run.under_way.map((one) => {
        const entry = element("li", "");
        const rate = one.elapsed_s > 0 ? `, ${simulated(one.simulated_ns / one.elapsed_s)}/s` : "";
        const left = one.left_s === null ? "" : `, ${time(one.left_s)} left`;
        const bar = element("progress", "", { max: 1, "aria-label": one.words });
        bar.value = one.fraction;
        entry.append(element("span", one.words), bar, element("span", `${Math.floor(100 * one.fraction)} %${rate}${left}`, { class: "pale" }));
        return entry;
      }));
      list(find(".failed"), `Failed (${run.failed.length})`, run.failed.map((one) => element("li", `${one.words}: ${one.reason}`)));
      if (run.stamp !== state.stamp) reload(run.stamp);
    };
    return { letter, show, lost: () => say(find(".status"), "the server has ended") };
  };

  const panes = [...document.querySelectorAll(".pane")].map(pane);
  const look = async () => {
    try {
      const runs = await (await fetch("/state.json")).json();
      runs.forEach((run) => panes.find((one) => one.letter === run.letter).show(run));
      document.title = `${runs.map((run) => `${run.finished ?? 0}/${run.points ?? 0}`).join(", ")} - tailcut view`;
    } catch {
      panes.forEach((one) => one.lost());
    }
    setTimeout(look, PERIOD);
  };
  look();
})();
