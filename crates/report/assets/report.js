"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  // What is shown: schemes, and the values of each swept parameter.
  const shown = data.schemes.map(() => true);
  const shownValues = data.axes.map((axis) => axis.values.map(() => true));
  const rebuilds = [];
  const groupShown = (group) => shown[group.s] && group.v.every((v, a) => shownValues[a][v]);

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
  // The mark of a percentile of fewer values than it needs, and what it means.
  const mark = (n, needed) => (needed && n < needed ? " †" : "");
  const few = (row) => (row[V] === null ? "" : mark(row[N], data.metrics[row[M]].needed));
  const byKey = new Map(data.rows.map((row) => [`${row[G]}/${row[C]}/${row[M]}`, row]));
  const groupOf = new Map(data.groups.map((g, i) => [`${g.s}/${g.v.join(",")}`, i]));
  const rowAt = (scheme, values, c, m) => byKey.get(`${groupOf.get(`${scheme}/${values.join(",")}`)}/${c}/${m}`);
  // The ratio to the baseline as such a row; of what it rests on there are the seeds.
  const ratioByKey = new Map((data.ratios ? data.ratios.rows : []).map((row) => [`${row[G]}/${row[C]}/${row[M]}`, row]));
  const ratioAt = (scheme, values, c, m) => ratioByKey.get(`${groupOf.get(`${scheme}/${values.join(",")}`)}/${c}/${m}`);

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
    select(box, axis.words, axis.values.map((text, i) => [i, text]), 0, onChange));
  // Values that are hidden cannot be chosen; if one is, the first that is shown takes its place.
  const offerShown = (selects) => selects.forEach((one, a) => {
    [...one.element.options].forEach((option, i) => { option.disabled = !shownValues[a][i]; });
    if (!shownValues[a][one.value]) one.element.value = Math.max(0, shownValues[a].indexOf(true));
  });
  const labelOf = (axis) => axis.words + (axis.unit ? `, ${axis.unit}` : "");
  const metricWords = (m, c) => data.metrics[m].words + (data.metrics[m].ofFlows ? ` of ${data.classes[c].words}` : "");
  const withUnit = (words, unit) => (unit ? `${words}, ${unit}` : words);
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
  // The font of the title of an axis: smaller for a long one, so that it is not cut.
  const titleFont = (text, room) => {
    const ctx = document.createElement("canvas").getContext("2d");
    ctx.font = "13px system-ui, sans-serif";
    const size = Math.max(8, Math.min(13, (13 * room) / Math.max(1, ctx.measureText(text).width)));
    return `${size.toFixed(1)}px system-ui, sans-serif`;
  };
  // Names below an axis: slanted where they would run into each other.
  const named = (names) => {
    const ctx = document.createElement("canvas").getContext("2d");
    ctx.font = font;
    const longest = Math.max(...names.map((name) => ctx.measureText(name).width));
    const crowded = (u) => longest + 8 > (u.width - 80) / names.length;
    return {
      splits: () => names.map((_, i) => i), values: () => names, grid: { show: false },
      rotate: (u) => (crowded(u) ? 35 : 0), size: (u) => (crowded(u) ? 30 + 0.6 * longest : 50),
    };
  };
  // Frames `u` in `holder`, keeps it as wide as the page, and follows the pointer with a table of what is under it.
  const show = (holder, state, options, values, tip) => {
    const height = () => (holder.clientWidth < 600 ? 320 : 400);
    if (state.u) state.u.destroy();
    holder.replaceChildren();
    const box = document.createElement("div");
    box.className = "tip";
    options.width = holder.clientWidth;
    options.height = height();
    options.axes[1].labelFont = titleFont(options.axes[1].label, options.height - 80);
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

  // An arrow at the end of an interval that goes on outside of the chart; `way` is -1 upwards and 1 downwards.
  const arrow = (ctx, x, y, way, ratio) => {
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x - 4 * ratio, y - way * 7 * ratio);
    ctx.lineTo(x + 4 * ratio, y - way * 7 * ratio);
    ctx.closePath();
    ctx.fill();
  };
  // A bar from `low` to `high` at `x`, which are values of y; ends that are cut by the axis end in an arrow.
  const bar = (u, x, low, high, colour) => {
    const { ctx } = u, ratio = devicePixelRatio || 1, top = u.bbox.top, bottom = u.bbox.top + u.bbox.height;
    const at = (v) => (u.scales.y.distr === 3 && v <= 0 ? Infinity : u.valToPos(v, "y", true));
    const ends = [at(high), at(low)];
    ctx.strokeStyle = ctx.fillStyle = colour;
    ctx.lineWidth = 1.4 * ratio;
    ctx.beginPath();
    ctx.moveTo(x, Math.min(bottom, Math.max(top, ends[0])));
    ctx.lineTo(x, Math.max(top, Math.min(bottom, ends[1])));
    ctx.stroke();
    if (ends[0] < top - 1) arrow(ctx, x, top, -1, ratio);
    if (ends[1] > bottom + 1) arrow(ctx, x, bottom, 1, ratio);
  };
  // Points with intervals against a swept parameter: `at(s, i)` is the row of the scheme `s` at the value `i` of the axis,
  // or undefined; where nothing is swept the schemes stand on the x axis. `look` has the words of the y axis, whether it
  // is logarithmic, and a value for comparison.
  const pointsChart = (holder, state, axisAt, at, look) => {
    const axis = axisAt < 0 ? null : data.axes[axisAt];
    const numbers = axis && axis.numbers;
    const all = (axis ? axis.values : data.schemes).map((_, i) => i).filter((i) => (axis ? shownValues[axisAt][i] : shown[i]));
    const xOf = (k, i) => (numbers ? numbers[i] : k);
    const order = numbers ? all.sort((a, b) => numbers[a] - numbers[b]) : all;
    const table = data.schemes.map((_, s) => order.map((i) => (shown[s] && (axis || s === i) ? at(s, i) : undefined)));
    const present = table.flat().filter((row) => row && row[V] !== null && (!look.log || row[V] > 0));
    if (!present.length) return empty(holder, state, look.nothing);
    // Times are shown in ms where they are long.
    const scale = look.unit === "µs" && Math.max(...present.map((row) => row[V])) >= 5000 ? 1e-3 : 1;
    const unit = scale === 1 ? look.unit : "ms";
    const value = (row, field) => (row && row[field] !== null ? row[field] * scale : null);
    const columns = [order.map((i, k) => xOf(k, i))], series = [{}], bands = [];
    const paths = numbers ? undefined : () => null;
    data.schemes.forEach((name, s) => {
      const first = columns.length;
      for (const field of [V, LOW, HIGH]) columns.push(table[s].map((row) => value(row, field)));
      const hidden = { stroke: "transparent", points: { show: false }, show: shown[s], paths };
      series.push({ label: name, show: shown[s], stroke: colour(s), width: 2, points: { show: false }, spanGaps: true, paths }, hidden, { ...hidden });
      bands.push({ series: [first + 2, first + 1], fill: faded(colour(s), 0.14) });
    });
    const names = numbers ? null : order.map((i) => (axis ? axis.values : data.schemes)[i]);
    const visible = data.schemes.map((_, s) => s).filter((s) => shown[s] && table[s].some((row) => row && row[V] !== null));
    const marks = (u) => {
      const { ctx } = u, ratio = devicePixelRatio || 1;
      ctx.save();
      if (look.reference !== undefined) {
        const y = u.valToPos(look.reference, "y", true);
        ctx.strokeStyle = css("--pale");
        ctx.lineWidth = 1.2 * ratio;
        ctx.beginPath();
        ctx.moveTo(u.bbox.left, y);
        ctx.lineTo(u.bbox.left + u.bbox.width, y);
        ctx.stroke();
      }
      const slot = names ? u.bbox.width / names.length : 0;
      visible.forEach((s, k) => {
        const apart = names ? Math.min((0.7 * slot) / visible.length, 26 * ratio) : Math.min(28 / visible.length, 4) * ratio;
        const moved = axis ? (k - (visible.length - 1) / 2) * apart : 0;
        table[s].forEach((row, i) => {
          if (!row || row[V] === null || (look.log && row[V] <= 0)) return;
          const x = u.valToPos(columns[0][i], "x", true) + moved;
          if (row[LOW] !== null) bar(u, x, value(row, LOW), value(row, HIGH), colour(s));
          drawMarker(ctx, s, x, u.valToPos(value(row, V), "y", true), 4.4 * ratio);
        });
      });
      ctx.restore();
    };
    const ends = () => {
      const values = present.map((row) => value(row, V)), lows = present.map((row) => value(row, LOW)).filter((v) => v !== null);
      const highs = present.map((row) => value(row, HIGH)).filter((v) => v !== null);
      let [low, high] = [Math.min(...values), Math.max(...values)];
      if (look.reference !== undefined) {
        [low, high] = [Math.min(low, look.reference), Math.max(high, look.reference)];
        const room = Math.max(0.75 * (high - low), 0.1);
        [low, high] = [Math.min(low, Math.max(low - room, Math.min(...lows))), Math.max(high, Math.min(high + room, Math.max(...highs)))];
        const margin = 0.06 * Math.max(high - low, 0.1);
        return [low - margin, high + margin];
      }
      high = Math.max(high, Math.min(Math.max(...highs), (look.log ? 2 : 1.6) * high));
      return look.log ? [low / 1.3, high * 1.2] : [0, high > 0 ? high * 1.06 : 1];
    };
    show(holder, state, {
      series, bands: numbers && order.length > 1 ? bands : [],
      scales: {
        x: { time: false, range: (u, low, high) => names ? [-0.5, names.length - 0.5] : low === high ? [low - 0.5 * (Math.abs(low) || 1), high + 0.5 * (Math.abs(high) || 1)] : [low - 0.04 * (high - low), high + 0.04 * (high - low)] },
        y: { distr: look.log ? 3 : 1, range: ends },
      },
      axes: [
        axisLook(axis ? labelOf(axis) : "scheme", names ? named(names)
          : order.length <= 12 ? { splits: () => columns[0], values: (u, splits) => splits.map(number) } : {}),
        axisLook(withUnit(look.words, unit), { size: 64, ...labels, ...(look.log ? onLog : {}) }),
      ],
      hooks: { draw: [marks] },
      cursor: { points: { show: false } },
    }, columns, (i) => {
      const lines = data.schemes.map((name, s) => [name, s, table[s][i]]).filter(([, , row]) => row && row[V] !== null)
        .sort((a, b) => b[2][V] - a[2][V])
        .map(([name, s, row]) => `<tr><td>${icon(s)}</td><td>${escaped(name)}</td><td class="number"><b>${number(value(row, V))}</b></td>` +
          `<td class="pale">${row[LOW] === null ? "" : `${number(value(row, LOW))} … ${number(value(row, HIGH))}`}</td><td class="pale">${look.note(row)}</td></tr>`);
      const head = axis ? `${escaped(axis.words)} = ${escaped(axis.values[order[i]])}` : "";
      return lines.length ? `<div class="pale">${head}</div><table>${lines.join("")}</table>` : null;
    });
  };

  // A metric against a swept parameter, or one scheme beside the other where nothing is swept; beside it, its ratio to the
  // baseline.
  const metricChart = () => {
    const box = $("metric-controls"), holder = $("metric-chart"), beside = $("ratio-chart"), state = {}, besideState = {};
    const rebuild = () => draw();
    const metric = select(box, "metric", data.metrics.map((m, i) => [i, m.words]), data.start.metric, rebuild);
    const cls = select(box, "class", data.classes.map((one, i) => [i, one.name]), data.start.class, rebuild);
    const x = data.axes.length > 1
      ? select(box, "against", data.axes.map((axis, i) => [i, axis.words]), data.start.axis, rebuild) : null;
    const fixed = axisSelects(box, rebuild);
    const log = check(box, "logarithmic", rebuild);
    const draw = () => {
      offerShown(fixed);
      const m = metric.value, c = cls.value;
      const axisAt = x ? x.value : data.axes.length ? 0 : -1;
      fixed.forEach((one, i) => { one.wrap.hidden = i === axisAt; one.wrap.style.display = i === axisAt ? "none" : ""; });
      const values = (i) => data.axes.map((_, a) => (a === axisAt ? i : fixed[a].value));
      $("metric-meaning").textContent =
        `${data.metrics[m].meaning} Bands and bars: 95 % intervals; one that ends in an arrow goes on.${data.metrics[m].needed ? ` ${data.fewInWords}` : ""}`;
      const other = data.classes.find((_, i) => data.rows.some((row) => row[M] === m && row[C] === i && row[V] !== null));
      pointsChart(holder, state, axisAt, (s, i) => rowAt(s, values(i), c, m), {
        words: metricWords(m, c), unit: data.metrics[m].unit, log: log.checked,
        nothing: `${data.classes[c].words}: no ${data.metrics[m].words} here${other ? `; ${other.words} have one` : ""}`,
        note: (row) => `n = ${row[N]}${few(row) || (row[NOTE] ? " *" : "")}`,
      });
      if (!beside) return;
      const baseline = data.schemes[data.ratios.baseline];
      $("ratio-meaning").textContent = `On the right the same over that of ${baseline}, seed by seed: below 1 it is lower than with ${baseline}. Where the interval leaves out 1 they differ at 95 % confidence, even if the intervals on the left overlap.`;
      pointsChart(beside, besideState, axisAt, (s, i) => ratioAt(s, values(i), c, m), {
        words: `ratio to that of ${baseline}`, unit: "", reference: 1, nothing: `no ratio to ${baseline} here`,
        note: (row) => `${row[N]} seed${row[N] === 1 ? "" : "s"}${row[7] ? "" : ", not paired"}`,
      });
    };
    rebuilds.push(draw);
    draw();
  };

  // A metric over two swept parameters: a table of coloured cells for each scheme.
  const heatMaps = () => {
    const box = $("heat-controls"), holder = $("heat-chart");
    if (!holder) return;
    holder.classList.add("heat");
    const rebuild = () => draw();
    const metric = select(box, "metric", data.metrics.map((m, i) => [i, m.words]), data.start.metric, rebuild);
    const cls = select(box, "class", data.classes.map((one, i) => [i, one.name]), data.start.class, rebuild);
    const axes = data.axes.map((axis, i) => [i, axis.words]);
    const across = select(box, "across", axes, data.start.axis, rebuild);
    const down = select(box, "down", axes, data.axes.findIndex((_, i) => i !== data.start.axis), rebuild);
    const fixed = axisSelects(box, rebuild);
    const over = data.ratios ? check(box, `ratio to ${data.schemes[data.ratios.baseline]}`, rebuild) : { checked: false };
    const black = (hex) => { const n = parseInt(hex.slice(1), 16); return 0.299 * (n >> 16) + 0.587 * ((n >> 8) & 255) + 0.114 * (n & 255) >= 140; };
    // Blue is lower and red higher than the baseline, white the same.
    const diverging = (log, most) => {
      const part = Math.min(1, Math.abs(log) / most), pale = Math.round(255 - 165 * part);
      const hex = (v) => v.toString(16).padStart(2, "0");
      return `#${log < 0 ? hex(pale) + hex(Math.round(255 - 100 * part)) + "ff" : "ff" + hex(Math.round(255 - 135 * part)) + hex(pale)}`;
    };
    const draw = () => {
      offerShown(fixed);
      const m = metric.value, c = cls.value, ax = across.value;
      if (down.value === ax) down.element.value = data.axes.findIndex((_, i) => i !== ax);
      const dy = down.value;
      fixed.forEach((one, i) => { const free = i === ax || i === dy; one.wrap.hidden = free; one.wrap.style.display = free ? "none" : ""; });
      const values = (i, j) => data.axes.map((_, a) => (a === ax ? i : a === dy ? j : fixed[a].value));
      const columns = data.axes[ax].values.map((_, i) => i).filter((i) => shownValues[ax][i]);
      const rows = data.axes[dy].values.map((_, j) => j).filter((j) => shownValues[dy][j]);
      const at = (s, i, j) => { const row = (over.checked ? ratioAt : rowAt)(s, values(i, j), c, m); return row && row[V] !== null ? row : null; };
      const schemes = data.schemes.map((_, s) => s).filter((s) => shown[s] && !(over.checked && s === data.ratios.baseline));
      const found = schemes.flatMap((s) => rows.flatMap((j) => columns.map((i) => at(s, i, j)))).filter(Boolean).map((row) => row[V]);
      const [low, high] = [Math.min(...found), Math.max(...found)];
      const most = Math.max(0.05, ...found.filter((v) => v > 0).map((v) => Math.abs(Math.log(v))));
      const unit = over.checked ? "" : data.metrics[m].unit;
      const scale = unit === "µs" && high >= 5000 ? 1e-3 : 1;
      const shade = (v) => {
        if (over.checked) return diverging(v > 0 ? Math.log(v) : -most, most);
        const share = high <= low ? 0.5 : low > 0 ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low);
        return data.heat[Math.round(share * (data.heat.length - 1))];
      };
      const words = metricWords(m, c) + (over.checked ? ` over that of ${data.schemes[data.ratios.baseline]}` : "");
      $("heat-meaning").textContent = `${withUnit(words, scale === 1 ? unit : "ms")}. ${over.checked ? "Blue is lower, red higher; in bold where the interval leaves out 1." : "The same colours for every scheme."} Point at a cell for its interval.${data.metrics[m].needed && !over.checked ? ` ${data.fewInWords}` : ""}`;
      holder.innerHTML = found.length ? schemes.map((s) => `<table class="map"><caption>${icon(s)} ${escaped(data.schemes[s])}</caption>` +
        `<thead><tr><th>${escaped(labelOf({ ...data.axes[dy], unit: "" }))} \\ ${escaped(labelOf({ ...data.axes[ax], unit: "" }))}</th>${columns.map((i) => `<th>${escaped(data.axes[ax].values[i])}</th>`).join("")}</tr></thead><tbody>` +
        rows.map((j) => `<tr><th>${escaped(data.axes[dy].values[j])}</th>${columns.map((i) => {
          const row = at(s, i, j);
          if (!row) return "<td></td>";
          const paint = shade(row[V]), interval = row[LOW] === null ? "" : ` [${number(row[LOW] * scale)}, ${number(row[HIGH] * scale)}]`;
          const sure = over.checked && row[LOW] !== null && (row[LOW] > 1 || row[HIGH] < 1);
          return `<td style="background:${paint};color:${black(paint) ? "#111" : "#fff"}${sure ? ";font-weight:700" : ""}" title="${escaped(number(row[V] * scale) + interval)}">${over.checked ? row[V].toFixed(2) : number(Number((row[V] * scale).toPrecision(3))) + few(row)}</td>`;
        }).join("")}</tr>`).join("") + "</tbody></table>").join("") : `<div class="empty">no ${escaped(words)}</div>`;
    };
    rebuilds.push(draw);
    draw();
  };

  // Lines of several schemes, each with its own values of x. A line is { s, x, y, low, high, dash, tip }.
  const linesChart = (holder, state, lines, look) => {
    if (!lines.length) return empty(holder, state, look.nothing);
    const tables = lines.flatMap((line) => [[line.x, line.y], ...(line.low ? [[line.x, line.low], [line.x, line.high]] : [])]);
    const columns = tables.length === 1 ? tables[0] : uPlot.join(tables);
    const series = [{}], bands = [], places = [];
    lines.forEach((line) => {
      places.push(series.length);
      series.push({ stroke: colour(line.s), width: look.thin ? 1.3 : 2, dash: line.dash ? [6, 5] : undefined, points: { show: false }, spanGaps: true });
      if (!line.low) return;
      bands.push({ series: [series.length + 1, series.length], fill: faded(colour(line.s), 0.12) });
      const hidden = { stroke: "transparent", points: { show: false }, spanGaps: true };
      series.push(hidden, { ...hidden });
    });
    const top = Math.max(...lines.flatMap((line) => line.y.filter((v) => v !== null)));
    const highest = Math.max(top, ...lines.flatMap((line) => (line.high || []).filter((v) => v !== null)));
    const least = Math.min(...lines.flatMap((line) => line.y.filter((v) => v > 0)));
    const lowest = Math.min(least, ...lines.flatMap((line) => (line.low || []).filter((v) => v > 0)));
    const range = look.logY ? [Math.max(lowest, least / 2) / 1.15, Math.max(top, Math.min(highest, 2 * top)) * 1.15] : [0, top > 0 ? top * 1.06 : 1];
    const marks = (u) => {
      const ratio = devicePixelRatio || 1;
      lines.forEach((line, k) => {
        const n = line.x.length;
        const places = look.thin ? [0, 1, 2, 3].map((part) => Math.floor((0.05 + 0.25 * (part + k / lines.length)) * n)) : line.x.map((_, i) => i);
        places.filter((i) => i < n && line.y[i] !== null).forEach((i) => {
          const x = u.valToPos(line.x[i], "x", true);
          if (line.high && line.high[i] > range[1]) { u.ctx.fillStyle = colour(line.s); arrow(u.ctx, x, u.bbox.top, -1, ratio); }
          if (line.low && line.low[i] !== null && line.low[i] < range[0]) { u.ctx.fillStyle = colour(line.s); arrow(u.ctx, x, u.bbox.top + u.bbox.height, 1, ratio); }
          drawMarker(u.ctx, line.s, x, u.valToPos(line.y[i], "y", true), (line.dash ? 2.6 : look.thin ? 3.2 : 4) * ratio);
        });
      });
    };
    // Parts of the time that are set apart, with a word above each.
    const shades = (u) => {
      const ratio = devicePixelRatio || 1, { left, top, width, height } = u.bbox;
      (look.shades || []).forEach(([from, to, word]) => {
        const [a, b] = [from, to].map((x) => Math.min(left + width, Math.max(left, u.valToPos(x, "x", true))));
        if (!(b > a)) return;
        u.ctx.save();
        u.ctx.fillStyle = "#eeeef6";
        u.ctx.fillRect(a, top, b - a, height);
        u.ctx.fillStyle = "#5f5f5f";
        u.ctx.font = `${11 * ratio}px system-ui, sans-serif`;
        u.ctx.textAlign = "center";
        u.ctx.textBaseline = "top";
        const half = u.ctx.measureText(word).width / 2 + 3 * ratio;
        u.ctx.fillText(word, Math.max(left + half, Math.min(left + width - half, (a + b) / 2)), top + 4 * ratio);
        u.ctx.restore();
      });
    };
    show(holder, state, {
      series, bands,
      scales: {
        x: { time: false, distr: look.logX ? 3 : 1, range: (u, low, high) => look.logX ? [low / 1.15, high * 1.15] : [0, high] },
        y: { distr: look.logY ? 3 : 1, range: () => range },
      },
      axes: [
        axisLook(look.x, { ...labels, ...(look.logX ? onLog : {}) }),
        axisLook(look.y, { size: 64, ...labels, ...(look.logY ? onLog : {}) }),
      ],
      hooks: { drawClear: [shades], draw: [marks] },
      cursor: { points: { show: false } },
    }, columns, (i) => {
      // The nearest point of each line: lines have points at other places than the pointer's.
      const x = columns[0][i];
      const rows = lines.map((line) => {
        const k = line.x.reduce((best, v, at) => (Math.abs(v - x) < Math.abs(line.x[best] - x) ? at : best), 0);
        return `<tr><td>${icon(line.s)}</td><td>${escaped(data.schemes[line.s])}</td>${line.tip(k)}</tr>`;
      });
      return `<div class="pale">${escaped(look.head(x))}</div><table>${rows.join("")}</table>`;
    });
  };

  // The figure of the field: slowdown against flow size, its 99th percentile and its median.
  const slowdownChart = () => {
    const box = $("slowdown-controls"), holder = $("slowdown-chart"), state = {};
    const rebuild = () => draw();
    const classes = data.classes.map((one, i) => [i, one.name]).filter(([i]) => data.slowdown.some((one) => one.c === i));
    if (!classes.length) return empty(holder, state, "no flow has finished");
    const cls = select(box, "class", classes, classes.some(([i]) => i === data.start.all) ? data.start.all : classes[0][0], rebuild);
    const which = select(box, "show", [[0, "99th percentile and median"], [1, "99th percentile"], [2, "median"]], 0, rebuild);
    const fixed = axisSelects(box, rebuild);
    fixed.forEach((one, i) => { one.element.value = data.axes[i].values.length - 1; });
    const log = check(box, "logarithmic", rebuild);
    log.checked = true;
    const draw = () => {
      offerShown(fixed);
      const place = fixed.map((one) => one.value).join(",");
      const lines = data.slowdown.filter((one) => one.c === cls.value && groupShown(data.groups[one.g]) && data.groups[one.g].v.join(",") === place)
        .flatMap((one) => [[5, which.value !== 2, false], [4, which.value !== 1, true]].filter(([, wanted]) => wanted).map(([field, , dash]) => ({
          s: data.groups[one.g].s, dash: dash && which.value === 0,
          x: one.bins.map((bin) => bin[1]), y: one.bins.map((bin) => bin[field][0]),
          low: one.bins.map((bin) => bin[field][1]), high: one.bins.map((bin) => bin[field][2]),
          tip: (k) => `<td class="pale">${dash ? "median" : "99th percentile"}</td><td class="number"><b>${number(one.bins[k][field][0])}</b></td>` +
            `<td class="pale">${one.bins[k][field][1] === null ? "" : `${number(one.bins[k][field][1])} … ${number(one.bins[k][field][2])}`}</td>` +
            `<td class="pale">${number(one.bins[k][0])} to ${number(one.bins[k][2])} KB, n = ${one.bins[k][3]}${mark(one.bins[k][3], data.needed[field === 5 ? "p99" : "median"])}</td>`,
        })));
      linesChart(holder, state, lines, {
        x: "flow size, KB", y: `slowdown of ${data.classes[cls.value].words}`, logX: true, logY: log.checked,
        nothing: "no flow has finished here", head: (x) => `about ${number(x)} KB`,
      });
    };
    rebuilds.push(draw);
    draw();
  };

  // What was recorded over time of one seed. `options` are what can be shown, as [name, trace of a point].
  const timeChart = (id, points, options, words, unit, meaning) => {
    const box = $(`${id}-controls`), holder = $(`${id}-chart`), state = {};
    if (!holder) return;
    const rebuild = () => draw();
    const what = select(box, "show", options.map(([name], i) => [i, name]), 0, rebuild);
    const fixed = axisSelects(box, rebuild);
    fixed.forEach((one, i) => { one.element.value = data.axes[i].values.length - 1; });
    const draw = () => {
      offerShown(fixed);
      const place = fixed.map((one) => one.value).join(",");
      const here = points.filter((point) => groupShown(point) && point.v.join(",") === place);
      const lines = here.map((point) => [point, options[what.value][1](point)]).filter(([, trace]) => trace && trace.some((value) => value !== null)).map(([point, trace]) => ({
        s: point.s, x: trace.map((_, i) => Number((((i + 0.5) * point.bin) / 1e3).toPrecision(8))), y: trace,
        tip: (k) => `<td class="number"><b>${number(trace[k])}</b></td><td class="pale">${unit}</td>`,
      }));
      // The measurement window of all that is shown; what is before and after it is no part of the statistics.
      const windows = here.map((point) => point.window).filter(Boolean);
      const from = Math.min(...windows.map((one) => one[0])), until = Math.max(...windows.map((one) => one[1])), end = Math.max(...windows.map((one) => one[2]));
      const shades = [[0, from, "warm-up"], [until, end, "drain"]].filter(([a, b]) => windows.length && b - a > end / 1e3);
      linesChart(holder, state, lines, { x: "time, ms", y: `${options[what.value][0]}: ${words}, ${unit}`, thin: true, shades,
        nothing: "nothing was recorded here", head: (x) => `${number(x)} ms` });
      const seeds = [...new Set(here.map((point) => point.seed))], bins = [...new Set(here.map((point) => `${number(Number(point.bin.toPrecision(2)))} µs`))];
      $(`${id}-meaning`).textContent = `${meaning} Bins of about ${bins.join(", ")}. One seed is shown, without an average: ${seeds.join(", ")}.`;
    };
    rebuilds.push(draw);
    draw();
  };
  const seriesChart = () => {
    const ports = [...new Set(data.series.flatMap((point) => point.ports.map(([name]) => name)))].sort();
    timeChart("series", data.series, [
      ["longest queue of a switch port", (point) => point.longest], ["all switch ports together", (point) => point.sum],
      ...ports.map((name) => [name, (point) => (point.ports.find((port) => port[0] === name) || [])[1]]),
    ], "bytes waiting", "KB", "Each bin shows its longest sample. Of single ports those with the longest queues can be chosen.");
  };
  const throughputChart = () => timeChart("throughput", data.throughput, [
    ["all flows", (point) => point.all], ...data.runClasses.map((name, i) => [`${name}`, (point) => point.classes[i]]),
  ], "throughput", "Gb/s", "Payload that arrives at the receivers, what was sent again included: the mean rate of each bin.");

  // Cumulative distributions: every scheme at the same values of x.
  const distributionChart = (id, curves, label, withClass, logX) => {
    const box = $(`${id}-controls`), holder = $(`${id}-chart`), state = {};
    const rebuild = () => draw();
    const classes = data.classes.map((one, i) => [i, one.name]).filter(([i]) => curves.some((curve) => curve.c === i));
    if (withClass && !classes.length) return empty(holder, state, "no flow has finished");
    const cls = withClass ? select(box, "class", classes, classes.some(([i]) => i === data.start.class) ? data.start.class : classes[0][0], rebuild) : null;
    const fixed = axisSelects(box, rebuild);
    fixed.forEach((one, i) => { one.element.value = data.axes[i].values.length - 1; });
    const tail = check(box, "tail: share above, logarithmic", rebuild);
    const draw = () => {
      offerShown(fixed);
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
  document.querySelectorAll("table.headline, table.ratios, table.costs").forEach((table) => {
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
    const cls = select(box, "class", [[-1, "every class"], ...data.classes.map((one, i) => [i, one.name])], data.start.class, again);
    const metric = select(box, "metric", [[-1, "every metric"], ...data.metrics.map((m, i) => [i, m.name])], -1, again);
    const search = document.createElement("input");
    search.type = "search";
    search.placeholder = "filter, e.g. " + data.schemes[0];
    search.setAttribute("aria-label", "filter rows");
    search.addEventListener("input", again);
    box.append(search);
    const cells = (row) => {
      const group = data.groups[row[G]];
      return [data.schemes[group.s], ...group.v.map((v, a) => data.axes[a].values[v]), data.classes[row[C]].name, data.metrics[row[M]].name,
        row[V], row[LOW], row[HIGH], row[N], data.metrics[row[M]].unit];
    };
    const fill = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let rows = data.rows.filter((row) => groupShown(data.groups[row[G]]) && (cls.value < 0 || row[C] === cls.value) && (metric.value < 0 || row[M] === metric.value))
        .map((row) => [cells(row), row[NOTE], few(row)]);
      if (words.length) rows = rows.filter(([cells]) => { const text = cells.join(" ").toLowerCase(); return words.every((word) => text.includes(word)); });
      if (order) rows.sort((a, b) => order.sign * compare(a[0][order.at] ?? "", b[0][order.at] ?? ""));
      const first = data.axes.length + 3;
      body.innerHTML = rows.slice(0, limit).map(([cells, note, isOfFew]) => `<tr>${cells.map((cell, i) => {
        const figure = i >= first && i < first + 4;
        const text = (figure ? (i === first + 3 ? String(cell) : number(cell)) : escaped(cell)) + (i === first ? isOfFew : "");
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
    const chip = (name, on, toggle, mark) => {
      const element = document.createElement("button");
      element.className = "chip";
      element.type = "button";
      element.innerHTML = mark + escaped(name);
      element.setAttribute("aria-pressed", on);
      element.addEventListener("click", (event) => {
        toggle(event.altKey);
        chips();
        hideRows();
        rebuilds.forEach((rebuild) => rebuild());
      });
      return element;
    };
    // With Alt only this one, and again all of them.
    const toggled = (list, i) => (alone) => {
      const already = list.every((on, k) => on === (k === i));
      if (alone) list.forEach((_, k) => { list[k] = already || k === i; });
      else list[i] = !list[i];
    };
    const line = (title, id, children) => {
      const box = document.createElement("div");
      const name = document.createElement("span");
      box.className = "chips";
      box.id = id;
      name.className = "pale";
      name.textContent = title;
      box.append(name, ...children);
      return box;
    };
    $("shown").replaceChildren(
      line("schemes", "schemes", data.schemes.map((name, s) => chip(name, shown[s], toggled(shown, s), icon(s)))),
      ...data.axes.map((axis, a) => line(axis.words, `axis-${a}`, axis.values.map((value, i) => chip(value, shownValues[a][i], toggled(shownValues[a], i), "")))));
  };
  const hideRows = () => document.querySelectorAll("tr[data-group]").forEach((row) => {
    row.hidden = !groupShown(data.groups[row.dataset.group]);
  });
  if (data.rows.length) {
    document.documentElement.classList.add("scripts");
    chips();
    metricChart();
    heatMaps();
    slowdownChart();
    distributionChart("fct", data.fct, "FCT, µs", true, true);
    seriesChart();
    throughputChart();
    distributionChart("queue", data.queue, "packets waiting", false, false);
    explorer();
    dark.addEventListener("change", () => { chips(); rebuilds.forEach((rebuild) => rebuild()); });
  }
})();
