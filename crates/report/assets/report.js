"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const shown = data.schemes.map(() => true);
  const rebuilds = [];

  // ---- Looks: the colours and markers of the pictures in plots/ -------------------------------------------------
  const SHAPES = {
    circle: null,
    square: [[-0.88, -0.88], [0.88, -0.88], [0.88, 0.88], [-0.88, 0.88]],
    triangle: [[0, -1.3], [1.13, 0.65], [-1.13, 0.65]],
    diamond: [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]],
    "triangle-down": [[0, 1.3], [1.13, -0.65], [-1.13, -0.65]],
    pentagon: [0, 1, 2, 3, 4].map((i) => [1.15 * Math.sin(i * 1.2566), -1.15 * Math.cos(i * 1.2566)]),
    cross: [[-1, -0.55], [-0.55, -1], [0, -0.45], [0.55, -1], [1, -0.55], [0.45, 0], [1, 0.55], [0.55, 1], [0, 0.45],
      [-0.55, 1], [-1, 0.55], [-0.45, 0]],
  };
  const colour = (s) => {
    const c = data.looks[s].colour;
    return c === "#1e1e1e" && dark.matches ? "#c8c8c8" : c;
  };
  const faded = (hex, alpha) => {
    const n = parseInt(hex.slice(1), 16);
    return `rgba(${n >> 16}, ${(n >> 8) & 255}, ${n & 255}, ${alpha})`;
  };
  const icon = (s) => {
    const points = SHAPES[data.looks[s].marker];
    const shape = points
      ? `<polygon points="${points.map(([x, y]) => `${(8 + 5 * x).toFixed(1)},${(8 + 5 * y).toFixed(1)}`).join(" ")}"/>`
      : `<circle cx="8" cy="8" r="5"/>`;
    return `<svg viewBox="0 0 16 16" fill="${colour(s)}" aria-hidden="true">${shape}</svg>`;
  };
  const drawMarker = (ctx, s, x, y, r) => {
    const points = SHAPES[data.looks[s].marker];
    ctx.beginPath();
    if (points) points.forEach(([px, py], i) => ctx[i ? "lineTo" : "moveTo"](x + px * r, y + py * r));
    else ctx.arc(x, y, r, 0, 2 * Math.PI);
    ctx.closePath();
    ctx.fillStyle = colour(s);
    ctx.strokeStyle = css("--paper");
    ctx.lineWidth = r * 0.3;
    ctx.stroke();
    ctx.fill();
  };
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
  const number = (v) => {
    if (v === null || v === undefined) return "–";
    if (v === 0) return "0";
    const text = Math.abs(v) >= 1000 ? v.toFixed(Number.isInteger(v) || Math.abs(v) >= 10000 ? 0 : 1) : v.toPrecision(4);
    return text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text;
  };

  // ---- Rows by place ------------------------------------------------------------------------------------------------
  // A row is [group, class, metric, value, low, high, n, note].
  const G = 0, C = 1, M = 2, V = 3, LOW = 4, HIGH = 5, N = 6, NOTE = 7;
  const byKey = new Map(data.rows.map((row) => [`${row[G]}/${row[C]}/${row[M]}`, row]));
  const groupOf = new Map(data.groups.map((g, i) => [`${g.s}/${g.v.join(",")}`, i]));
  const rowAt = (scheme, values, c, m) => byKey.get(`${groupOf.get(`${scheme}/${values.join(",")}`)}/${c}/${m}`);

  // ---- Controls -----------------------------------------------------------------------------------------------------
  const select = (box, label, options, chosen, onChange) => {
    const element = document.createElement("select");
    options.forEach(([value, text]) => element.add(new Option(text, value)));
    element.value = chosen;
    element.addEventListener("change", onChange);
    const wrap = document.createElement("label");
    wrap.append(label, element);
    box.append(wrap);
    return { get value() { return Number(element.value); }, element, wrap };
  };
  const axisSelects = (box, onChange) => data.axes.map((axis) =>
    select(box, axis.short, axis.values.map((text, i) => [i, text]), 0, onChange));
  const check = (box, text, onChange) => {
    const element = document.createElement("input");
    element.type = "checkbox";
    element.addEventListener("change", onChange);
    const wrap = document.createElement("label");
    wrap.append(element, text);
    box.append(wrap);
    return element;
  };

  // ---- Charts -------------------------------------------------------------------------------------------------------
  const font = "12px system-ui, sans-serif";
  const axisLook = (label, more) => ({
    stroke: css("--pale"), font, labelFont: "13px system-ui, sans-serif", label, labelSize: 24,
    grid: { stroke: css("--grid"), width: 1 }, ticks: { stroke: css("--grid"), width: 1 }, ...more,
  });
  // Ticks of a logarithmic scale: powers of ten, and steps between them where there are few.
  const decades = (u, axis, low, high) => {
    const range = Math.log10(high / low);
    const steps = range <= 1.2 ? [1, 2, 3, 5, 7] : range <= 2.5 ? [1, 2, 5] : [1];
    const ticks = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
      for (const step of steps) {
        const tick = Number(`${step}e${e}`);
        if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
      }
    return ticks;
  };
  const onLog = { splits: decades, filter: (u, splits) => splits };
  const labels = { values: (u, splits) => splits.map((v) => (v === null ? "" : number(v))) };
  // Frames `u` in `holder`, keeps it as wide as the page, and follows the pointer with a table of what is under it.
  const show = (holder, state, options, values, tip) => {
    const height = () => (holder.clientWidth < 600 ? 300 : 360);
    if (state.u) state.u.destroy();
    holder.replaceChildren();
    const box = document.createElement("div");
    box.className = "tip";
    options.width = holder.clientWidth;
    options.height = height();
    options.legend = { show: false };
    options.cursor = { ...options.cursor, drag: { x: true, y: false } };
    options.hooks = {
      ...options.hooks,
      setCursor: [(u) => {
        const { left, top, idx } = u.cursor;
        const html = idx === null || idx === undefined || left < 0 ? null : tip(idx);
        box.style.display = html ? "block" : "none";
        if (!html) return;
        box.innerHTML = html;
        const plot = u.over.getBoundingClientRect(), frame = holder.getBoundingClientRect();
        const x = plot.left - frame.left + left, y = plot.top - frame.top + top;
        const flip = x + box.offsetWidth + 24 > frame.width;
        box.style.left = `${Math.max(0, flip ? x - box.offsetWidth - 12 : x + 14)}px`;
        box.style.top = `${Math.max(0, Math.min(y - 10, frame.height - box.offsetHeight))}px`;
      }],
    };
    const u = (state.u = new uPlot(options, values, holder));
    holder.append(box);
    if (!state.observer) {
      state.observer = new ResizeObserver(() => {
        if (state.u && holder.clientWidth && Math.abs(state.u.width - holder.clientWidth) > 1)
          state.u.setSize({ width: holder.clientWidth, height: height() });
      });
      state.observer.observe(holder);
    }
    return u;
  };
  const empty = (holder, state, text) => {
    if (state.u) state.u.destroy();
    state.u = null;
    holder.innerHTML = `<div class="empty">${escaped(text)}</div>`;
  };

  // A metric against a swept parameter, or one scheme beside the other where nothing is swept.
  const metricChart = () => {
    const box = $("metric-controls"), holder = $("metric-chart"), state = {};
    const has = (m, c) => data.rows.some((row) => row[M] === m && row[C] === c && row[V] !== null);
    const rebuild = () => draw();
    const metric = select(box, "metric", data.metrics.map((m, i) => [i, m.name]), data.start.metric, rebuild);
    const cls = select(box, "class", data.classes.map((name, i) => [i, name]), data.start.class, rebuild);
    const x = data.axes.length > 1
      ? select(box, "against", data.axes.map((axis, i) => [i, axis.short]), data.start.axis, rebuild) : null;
    const fixed = axisSelects(box, rebuild);
    const log = check(box, "logarithmic", rebuild);
    const draw = () => {
      const m = metric.value, c = cls.value;
      const axisAt = x ? x.value : data.axes.length ? 0 : -1;
      fixed.forEach((one, i) => { one.wrap.hidden = i === axisAt; one.wrap.style.display = i === axisAt ? "none" : ""; });
      $("metric-meaning").textContent =
        `${data.metrics[m].meaning} ${data.metrics[m].unit ? `In ${data.metrics[m].unit}. ` : ""}Bands and bars: 95 % intervals.`;
      if (!has(m, c)) {
        const other = data.classes.find((_, i) => has(m, i));
        return empty(holder, state, `class ${data.classes[c]} has no ${data.metrics[m].name}${other ? `; class ${other} has` : ""}`);
      }
      const axis = axisAt < 0 ? null : data.axes[axisAt];
      const numbers = axis && axis.numbers;
      const xs = numbers ? numbers.slice() : (axis ? axis.values : data.schemes).map((_, i) => i);
      const order = xs.map((_, i) => i).sort((a, b) => xs[a] - xs[b]);
      const at = (s, i) => {
        if (!axis && s !== i) return undefined;
        return rowAt(s, data.axes.map((_, a) => (a === axisAt ? i : fixed[a].value)), c, m);
      };
      const table = data.schemes.map((_, s) => order.map((i) => at(s, i)));
      const columns = [order.map((i) => xs[i])], series = [{}], bands = [];
      data.schemes.forEach((name, s) => {
        const first = columns.length;
        for (const field of [V, LOW, HIGH]) columns.push(table[s].map((row) => (row ? row[field] : null)));
        const hidden = { stroke: "transparent", points: { show: false }, show: shown[s], paths: numbers ? undefined : () => null };
        series.push(
          { label: name, show: shown[s], stroke: colour(s), width: 2, points: { show: false }, spanGaps: true, paths: numbers ? undefined : () => null },
          hidden, { ...hidden });
        bands.push({ series: [first + 2, first + 1], fill: faded(colour(s), 0.14) });
      });
      const names = numbers ? null : axis ? axis.values : data.schemes;
      const unit = data.metrics[m].unit;
      const count = data.schemes.length;
      const marks = (u) => {
        const ctx = u.ctx, ratio = devicePixelRatio || 1;
        ctx.save();
        ctx.beginPath();
        ctx.rect(u.bbox.left - 8 * ratio, u.bbox.top - 8 * ratio, u.bbox.width + 16 * ratio, u.bbox.height + 16 * ratio);
        ctx.clip();
        const slot = names ? u.bbox.width / names.length : 0;
        data.schemes.forEach((_, s) => {
          if (!shown[s]) return;
          const moved = names && axis ? (s - (count - 1) / 2) * Math.min((0.7 * slot) / count, 26 * ratio) : 0;
          table[s].forEach((row, i) => {
            if (!row || row[V] === null || (log.checked && row[V] <= 0)) return;
            const px = u.valToPos(columns[0][i], "x", true) + moved, py = u.valToPos(row[V], "y", true);
            if (names && row[LOW] !== null) {
              const low = log.checked && row[LOW] <= 0 ? u.bbox.top + u.bbox.height : u.valToPos(row[LOW], "y", true);
              ctx.strokeStyle = colour(s);
              ctx.lineWidth = 1.6 * ratio;
              ctx.beginPath();
              ctx.moveTo(px, low);
              ctx.lineTo(px, u.valToPos(row[HIGH], "y", true));
              ctx.stroke();
            }
            drawMarker(ctx, s, px, py, 4.4 * ratio);
          });
        });
        ctx.restore();
      };
      const ends = () => {
        let low = Infinity, high = -Infinity, top = -Infinity;
        table.forEach((rows, s) => shown[s] && rows.forEach((row) => {
          if (!row || row[V] === null) return;
          if (!log.checked || row[V] > 0) low = Math.min(low, row[V]);
          high = Math.max(high, row[V]);
          if (row[HIGH] !== null) top = Math.max(top, row[HIGH]);
        }));
        return [low, Math.max(high, Math.min(top, 1.6 * high))];
      };
      show(holder, state, {
        series, bands: numbers && numbers.length > 1 ? bands : [],
        scales: {
          x: { time: false, range: (u, low, high) => names ? [-0.5, names.length - 0.5] : low === high ? [low - 0.5 * (Math.abs(low) || 1), high + 0.5 * (Math.abs(high) || 1)] : [low - 0.04 * (high - low), high + 0.04 * (high - low)] },
          y: {
            distr: log.checked ? 3 : 1,
            range: () => { const [low, high] = ends(); return !(high > 0) ? [0.1, 1] : log.checked ? [low / 1.3, high * 1.2] : [0, high * 1.06]; },
          },
        },
        axes: [
          axisLook(axis ? axis.path + (axis.unit ? ` (${axis.unit})` : "") : "scheme", names
            ? { splits: () => names.map((_, i) => i), values: () => names, grid: { show: false } }
            : columns[0].length <= 12 ? { splits: () => columns[0], values: (u, splits) => splits.map(number) } : {}),
          axisLook(data.metrics[m].name + (unit ? ` (${unit})` : ""), { size: 64, ...labels, ...(log.checked ? onLog : {}) }),
        ],
        hooks: { draw: [marks] },
        cursor: { points: { show: false } },
      }, columns, (i) => {
        const lines = data.schemes.map((name, s) => [name, s, table[s][i]]).filter(([, s, row]) => shown[s] && row && row[V] !== null)
          .sort((a, b) => b[2][V] - a[2][V])
          .map(([name, s, row]) => `<tr><td>${icon(s)}</td><td>${escaped(name)}</td><td class="number"><b>${number(row[V])}</b></td>` +
            `<td class="pale">${row[LOW] === null ? "" : `${number(row[LOW])} … ${number(row[HIGH])}`}</td><td class="pale">n = ${row[N]}${row[NOTE] ? " *" : ""}</td></tr>`);
        const head = axis ? `${escaped(axis.short)} = ${escaped(axis.values[order[i]])}` : "";
        return lines.length ? `<div class="pale">${head}</div><table>${lines.join("")}</table>` : null;
      });
    };
    rebuilds.push(draw);
    draw();
  };

  // Cumulative distributions: every scheme at the same values of x.
  const distributionChart = (id, curves, label, withClass, logX) => {
    const box = $(`${id}-controls`), holder = $(`${id}-chart`), state = {};
    const rebuild = () => draw();
    const classes = data.classes.map((name, i) => [i, name]).filter(([i]) => curves.some((curve) => curve.c === i));
    if (withClass && !classes.length) return empty(holder, state, "no flow has finished");
    const cls = withClass ? select(box, "class", classes, classes.some(([i]) => i === data.start.class) ? data.start.class : classes[0][0], rebuild) : null;
    const fixed = axisSelects(box, rebuild);
    fixed.forEach((one, i) => { one.element.value = data.axes[i].values.length - 1; });
    const tail = check(box, "tail: share above, logarithmic", rebuild);
    const draw = () => {
      const values = fixed.map((one) => one.value).join(",");
      const curve = curves.find((one) => (!cls || one.c === cls.value) && one.v.join(",") === values);
      if (!curve) return empty(holder, state, "no samples here");
      const least = Math.min(...curve.y.flat().map((y) => 1 - y).filter((y) => y > 5e-6));
      const columns = [curve.x, ...curve.y.map((ys) => ys.map((y) => (!tail.checked ? y : 1 - y > 5e-6 ? 1 - y : null)))];
      const series = [{}, ...curve.s.map((s) => ({
        label: data.schemes[s], show: shown[s], stroke: colour(s), width: 2, points: { show: false },
        // Lengths of queues are whole numbers; between two values of an FCT there may be others.
        paths: logX ? undefined : uPlot.paths.stepped({ align: 1 }),
      }))];
      const bottom = logX ? 0 : Math.max(0, Math.floor(Math.min(...curve.y.map((ys) => ys[0])) * 10 - 0.2) / 10);
      const marks = (u) => {
        const ratio = devicePixelRatio || 1;
        curve.s.forEach((s, k) => {
          if (!shown[s]) return;
          const ys = columns[k + 1];
          const last = ys.findLastIndex((y) => y !== null), first = ys.findIndex((y) => y !== null && y < 1 && y > 0);
          [0.12, 0.3, 0.48, 0.66, 0.8].forEach((part) => {
            const fraction = part + (0.18 * k) / curve.s.length;
            const share = bottom + (1 - bottom) * fraction;
            const i = tail.checked ? Math.round(first + fraction * (last - first)) : ys.findIndex((y) => y >= share);
            if (i > 0 && i <= last && ys[i] > 0)
              drawMarker(u.ctx, s, u.valToPos(curve.x[i], "x", true), u.valToPos(ys[i], "y", true), 3.4 * ratio);
          });
        });
      };
      show(holder, state, {
        series,
        scales: {
          x: { time: false, distr: logX ? 3 : 1, range: (u, low, high) => [low, high === low ? low + 1 : high] },
          y: tail.checked ? { distr: 3, range: () => [least / 1.3, 1] } : { range: () => [bottom, 1] },
        },
        axes: [
          axisLook(label, { ...labels, ...(logX ? onLog : {}) }),
          axisLook(tail.checked ? "share above" : "share at or below", { size: 64, ...labels, ...(tail.checked ? onLog : {}) }),
        ],
        hooks: { draw: [marks] },
        cursor: { points: { show: false } },
      }, columns, (i) => {
        const lines = curve.s.map((s, k) => [s, curve.y[k][i]]).filter(([s]) => shown[s])
          .map(([s, y]) => {
            const share = tail.checked ? (1 - y > 5e-6 ? `${number(100 * (1 - y))} %` : "none") : `${(100 * y).toFixed(2)} %`;
            return `<tr><td>${icon(s)}</td><td>${escaped(data.schemes[s])}</td><td class="number"><b>${share}</b></td></tr>`;
          });
        return `<div class="pale">${tail.checked ? "above" : "at or below"} ${number(curve.x[i])}</div><table>${lines.join("")}</table>`;
      });
    };
    rebuilds.push(draw);
    draw();
  };

  // ---- Tables -------------------------------------------------------------------------------------------------------
  const sortable = (table, onSort) => {
    table.querySelectorAll("thead th").forEach((th, at) => {
      const button = th.querySelector("button");
      if (!button) return;
      button.addEventListener("click", () => {
        const up = th.getAttribute("aria-sort") !== "ascending";
        table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
        th.setAttribute("aria-sort", up ? "ascending" : "descending");
        onSort(at, up ? 1 : -1);
      });
    });
  };
  const compare = (a, b) => {
    const x = parseFloat(a), y = parseFloat(b);
    const numeric = !Number.isNaN(x) && !Number.isNaN(y);
    return numeric ? x - y : a === "" ? 1 : b === "" ? -1 : String(a).localeCompare(String(b));
  };
  document.querySelectorAll("table.headline, table.costs").forEach((table) => {
    sortable(table, (at, sign) => {
      const key = (row) => row.cells[at].dataset.value ?? row.cells[at].textContent;
      const body = table.tBodies[0];
      [...body.rows].sort((a, b) => sign * compare(key(a), key(b))).forEach((row) => body.append(row));
    });
  });
  const explorer = () => {
    const box = $("all-controls"), table = $("all-table"), body = table.tBodies[0], PAGE = 200;
    let order = null, limit = PAGE;
    const again = () => { limit = PAGE; fill(); };
    const cls = select(box, "class", [[-1, "every class"], ...data.classes.map((name, i) => [i, name])], data.start.class, again);
    const metric = select(box, "metric", [[-1, "every metric"], ...data.metrics.map((m, i) => [i, m.name])], -1, again);
    const search = document.createElement("input");
    search.type = "search";
    search.placeholder = "filter, e.g. " + data.schemes[0];
    search.setAttribute("aria-label", "filter rows");
    search.addEventListener("input", again);
    box.append(search);
    const cells = (row) => {
      const group = data.groups[row[G]];
      return [data.schemes[group.s], ...group.v.map((v, a) => data.axes[a].values[v]), data.classes[row[C]], data.metrics[row[M]].name,
        row[V], row[LOW], row[HIGH], row[N], data.metrics[row[M]].unit];
    };
    const fill = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let rows = data.rows.filter((row) => shown[data.groups[row[G]].s] && (cls.value < 0 || row[C] === cls.value) && (metric.value < 0 || row[M] === metric.value))
        .map((row) => [cells(row), row[NOTE]]);
      if (words.length) rows = rows.filter(([cells]) => { const text = cells.join(" ").toLowerCase(); return words.every((word) => text.includes(word)); });
      if (order) rows.sort((a, b) => order.sign * compare(a[0][order.at] ?? "", b[0][order.at] ?? ""));
      const first = data.axes.length + 3;
      body.innerHTML = rows.slice(0, limit).map(([cells, note]) => `<tr>${cells.map((cell, i) => {
        const figure = i >= first && i < first + 4;
        const text = figure ? (i === first + 3 ? String(cell) : number(cell)) : escaped(cell);
        return `<td${figure ? ' class="number"' : ""}${note && i === first ? ` title="${escaped(note)}"` : ""}>${text}</td>`;
      }).join("")}</tr>`).join("");
      $("all-count").textContent = rows.length > limit ? `${limit} of ${rows.length} rows` : `${rows.length} rows`;
      $("all-more").hidden = rows.length <= limit;
    };
    $("all-more").addEventListener("click", () => { limit = Infinity; fill(); });
    sortable(table, (at, sign) => { order = { at, sign }; fill(); });
    rebuilds.push(fill);
    fill();
  };

  // ---- Page ---------------------------------------------------------------------------------------------------------
  const chips = () => {
    const box = $("schemes");
    box.replaceChildren(...data.schemes.map((name, s) => {
      const chip = document.createElement("button");
      chip.className = "chip";
      chip.type = "button";
      chip.innerHTML = icon(s) + escaped(name);
      chip.setAttribute("aria-pressed", shown[s]);
      chip.addEventListener("click", (event) => {
        // With Alt only this scheme, and again all of them.
        if (event.altKey) {
          const alone = shown.every((on, i) => on === (i === s));
          shown.forEach((_, i) => { shown[i] = alone || i === s; });
        } else shown[s] = !shown[s];
        chips();
        rebuilds.forEach((rebuild) => rebuild());
      });
      return chip;
    }));
  };
  if (data.rows.length) {
    chips();
    metricChart();
    distributionChart("fct", data.fct, "FCT (µs)", true, true);
    distributionChart("queue", data.queue, "packets waiting", false, false);
    explorer();
    dark.addEventListener("change", () => { chips(); rebuilds.forEach((rebuild) => rebuild()); });
  }
})();
