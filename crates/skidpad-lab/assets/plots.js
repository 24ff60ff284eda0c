// Plots of the page, drawn with uPlot: curves, direct labels, values under the pointer, zoom and pan.
"use strict";

(() => {
  // Space of the axes and their labels (px).
  const [Y_AXIS_PX, X_AXIS_PX, AXIS_LABEL_PX, TOP_PX] = [46, 26, 17, 6];
  // Height of a plot, and of its drawn area on a map or with equal scales (px).
  const [PLOT_HEIGHT_PX, MIN_MAP_HEIGHT_PX, MAX_MAP_HEIGHT_PX] = [240, 90, 380];
  // Scale of texts and heights in a print (–).
  const [PRINT_SCALE, PRINT_HEIGHT_SCALE] = [0.66, 0.5];
  // Factor of a step of the zoom (–).
  const ZOOM_STEP = 1.4;

  // Returns the name of the solvers of a curve: the first, and the number of further solvers.
  function solverLabel(chart, curve) {
    const [first, ...others] = curve.members.map((member) => chart.section.solvers[member.solver].name);
    return others.length > 0 ? `${first} +${others.length}` : first;
  }

  // Returns the direct label of a curve: its part, its solvers, or both if several curves share either of them.
  function curveLabel(chart, curve) {
    const solvers = solverLabel(chart, curve);
    if (curve.part === "") return solvers;
    const isAlone = chart.plot.curves.every((other) => solverLabel(chart, other) === solvers);
    return isAlone ? curve.part : `${curve.part} ${solvers}`;
  }

  // Returns x and y of a member of a curve. In the view of differences y is relative to the first curve of the part.
  function memberColumns(chart, curve, member) {
    const columns = chart.section.decoded;
    const [x, y] = [columns[member.x], columns[member.y]];
    if (!chart.showsDifferences) return [x, y];
    const reference = columns[chart.plot.curves.find((other) => other.part === curve.part).members[0].y];
    return [x, y.map((value, row) => value - reference[row])];
  }

  // Returns what the chart draws: one item for each curve, or for each solver in the view of differences, where the
  // reference of each part is left out.
  function drawnItems(chart) {
    const items = [];
    for (const curve of chart.plot.curves) {
      if (!chart.showsDifferences) {
        const line = chart.style.lineOf(chart.section.solvers[curve.members[0].solver]);
        const data = memberColumns(chart, curve, curve.members[0]);
        items.push({ curve, line, label: curveLabel(chart, curve), data });
        continue;
      }
      const reference = chart.plot.curves.find((other) => other.part === curve.part).members[0];
      for (const member of curve.members.filter((member) => member !== reference)) {
        const source = chart.section.solvers[member.solver];
        if (source.peer) continue;
        const label = curve.part === "" ? source.name : `${curve.part} ${source.name}`;
        items.push({ curve, line: chart.style.lineOf(source), label, data: memberColumns(chart, curve, member) });
      }
    }
    return items;
  }

  // Returns the smallest range that contains all values of y of `items`, with a margin.
  function rangeOfItems(items) {
    let [low, high] = [Infinity, -Infinity];
    for (const item of items) {
      for (const value of item.data[1]) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    const margin = Math.max(0.08 * (high - low), 1e-9);
    return low <= high ? [low - margin, high + margin] : [-1, 1];
  }

  // Returns the texts of ticks, all with the smallest number of decimal places that shows each tick exactly.
  function tickTexts(ticks) {
    const isShown = (tick, places) => Math.abs(tick - Number(tick.toFixed(places))) < 1e-9 * Math.abs(tick) + 1e-12;
    const isExact = (places) => ticks.every((tick) => isShown(tick, places));
    let places = 0;
    while (places < 9 && !isExact(places)) places += 1;
    return ticks.map((tick) => report.formatNumber(tick, 10 ** -places));
  }

  // Returns the label of an axis with its unit. The heading of a plot over time names the quantity of y, so that the
  // label is the unit alone if the whole label is longer than the axis.
  function axisLabel(chart, axis) {
    const label = axis.unit === "-" ? axis.label : `${axis.label}, ${axis.unit}`;
    // Width of a character: 0.55 of the font size.
    const isLonger = 0.55 * (chart.fontPx - 1) * label.length > chartHeight(chart, 0) - 40 * chart.scale;
    return chart.plot.kind === "time" && axis !== chart.plot.x && isLonger ? axis.unit : label;
  }

  // Returns the options of an axis.
  function axisOptions(chart, axis, size) {
    const { style, fontPx } = chart;
    const [font, labelFont] = [fontPx, fontPx - 1].map((size) => `${size}px ${report.FONT_FAMILY}`);
    return {
      stroke: style.ink,
      grid: { stroke: style.rule, width: 1 },
      ticks: { stroke: style.rule, width: 1, size: 4 },
      label: axisLabel(chart, axis), labelSize: AXIS_LABEL_PX * chart.scale, labelFont, labelGap: 0,
      size, font, gap: 2,
      space: chart.scale < 1 ? 32 : 44,
      values: (u, ticks) => tickTexts(ticks),
    };
  }

  // Returns a function that computes the width of the numbers beside the y axis (px).
  function yAxisSize(chart) {
    return (u, texts) => {
      const longest = Math.max(0, ...(texts ?? []).map((text) => text.length));
      // Width of a digit: 0.6 of the font size.
      return Math.max(Y_AXIS_PX * chart.scale, 0.6 * chart.fontPx * longest + 12 * chart.scale);
    };
  }

  // Returns the height of the drawing (px) at a width: that of equal scales for a map, otherwise a fixed one.
  function chartHeight(chart, width) {
    const { plot, scale } = chart;
    const heightScale = scale < 1 ? PRINT_HEIGHT_SCALE : 1;
    if (plot.kind !== "map") return PLOT_HEIGHT_PX * heightScale * (plot.kind === "time" || scale === 1 ? 1 : 1.3);
    const axes = (X_AXIS_PX + AXIS_LABEL_PX) * scale + TOP_PX;
    const drawnWidth = width - (Y_AXIS_PX + AXIS_LABEL_PX) * scale - chart.gutter;
    const [xs, ys] = [plot.x.range, plot.y.range].map(([low, high]) => high - low);
    const height = (drawnWidth * ys) / xs;
    return Math.min(Math.max(height, MIN_MAP_HEIGHT_PX * heightScale), MAX_MAP_HEIGHT_PX * heightScale) + axes;
  }

  // Widens one of the ranges about its middle, so that both axes have the same scale.
  function equalise(u, [xLow, xHigh], [yLow, yHigh]) {
    const perPixel = Math.max((xHigh - xLow) / u.bbox.width, (yHigh - yLow) / u.bbox.height);
    const widen = (low, high, pixels) => [(low + high - pixels * perPixel) / 2, (low + high + pixels * perPixel) / 2];
    return [widen(xLow, xHigh, u.bbox.width), widen(yLow, yHigh, u.bbox.height)];
  }

  // Shows the ranges `x` and `y` in a chart. Plots over time of a section share the range of x.
  function showRange(chart, x, y) {
    const { u, link } = chart;
    const hasEqualScales = chart.plot.kind === "map" || chart.plot.kind === "equal";
    const [xRange, yRange] = hasEqualScales ? equalise(u, x, y) : [x, y];
    chart.view = { x: xRange, y: yRange };
    u.batch(() => {
      u.setScale("x", { min: xRange[0], max: xRange[1] });
      u.setScale("y", { min: yRange[0], max: yRange[1] });
    });
    if (chart.plot.kind === "time") link.shareRange(chart, xRange);
    chart.showTime(link.time);
  }

  // Shows the range that a chart has at first.
  function showAll(chart) {
    showRange(chart, chart.plot.x.range, chart.showsDifferences ? rangeOfItems(chart.items) : chart.plot.y.range);
  }

  // Zooms by `factor` (below 1: closer) about the values `x` and `y`.
  function zoom(chart, factor, x, y) {
    const about = ([low, high], value) => [value - (value - low) * factor, value + (high - value) * factor];
    showRange(chart, about(chart.view.x, x), about(chart.view.y, y));
  }

  // Zooms by `factor` about the middle.
  function zoomMiddle(chart, factor) {
    zoom(chart, factor, ...[chart.view.x, chart.view.y].map(([low, high]) => (low + high) / 2));
  }

  // Zooms to the selected rectangle.
  function zoomToSelection(chart) {
    const { u } = chart;
    const { left, top, width, height } = u.select;
    if (width < 4) return;
    const x = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
    const y = chart.plot.kind === "time" ? chart.view.y : [u.posToVal(top + height, "y"), u.posToVal(top, "y")];
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    showRange(chart, x, y);
  }

  // Moves the view with the pointer until its button is released.
  function pan(chart, start) {
    const { u, view } = chart;
    const perPixel = ([low, high], pixels) => (high - low) / pixels;
    const [xStep, yStep] = [perPixel(view.x, u.over.clientWidth), perPixel(view.y, u.over.clientHeight)];
    const move = (event) => {
      const [dx, dy] = [(start.clientX - event.clientX) * xStep, (event.clientY - start.clientY) * yStep];
      showRange(chart, view.x.map((x) => x + dx), view.y.map((y) => y + dy));
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", () => window.removeEventListener("pointermove", move), { once: true });
  }

  // Returns the row nearest to the pointer: in x for a plot over time, in both directions for others.
  function rowAtPointer(chart, left, top) {
    const { u } = chart;
    if (chart.plot.kind === "time") return report.nearestRow(chart.section.decoded[0], u.posToVal(left, "x"));
    let [best, bestDistance] = [0, Infinity];
    for (const item of chart.items) {
      item.data[0].forEach((x, row) => {
        const distance = Math.hypot(u.valToPos(x, "x") - left, u.valToPos(item.data[1][row], "y") - top);
        if (distance < bestDistance) [best, bestDistance] = [row, distance];
      });
    }
    return best;
  }

  // Returns the lines of the tooltip at a row: column 0, then the values of every solver. Points are numbered.
  function tooltipLines(chart, row) {
    const { plot, section } = chart;
    const resolution = (range) => (range[1] - range[0]) / 2000;
    const value = (number, axis, range) => report.withUnit(report.formatNumber(number, resolution(range)), axis.unit);
    const order = section.decoded[0];
    const rowAxis = plot.markers || section.order ? { label: "point", unit: "-" } : { label: "time", unit: "s" };
    const orderAxis = plot.kind === "time" ? plot.x : rowAxis;
    const lines = [`${orderAxis.label} ${value(order[row], orderAxis, [order[0], order[order.length - 1]])}`];
    for (const curve of plot.curves) {
      for (const member of curve.members) {
        const [x, y] = memberColumns(chart, curve, member);
        const name = [curve.part, section.solvers[member.solver].name].filter((part) => part !== "").join(" ");
        const yText = value(y[row], plot.y, chart.view.y);
        const xText = plot.kind === "time" ? "" : `${value(x[row], plot.x, chart.view.x)}; `;
        lines.push(`${name}: ${xText}${yText}`);
      }
    }
    return lines;
  }

  // Shows the values at the pointer (px in the drawn area), and the same time in all plots of the section.
  function showValues(chart) {
    const { left, top } = chart.u.cursor;
    const isInside = left !== undefined && left >= 0;
    chart.tooltip.hidden = !isInside;
    if (!isInside) return;
    const row = rowAtPointer(chart, left, top);
    chart.tooltip.replaceChildren();
    tooltipLines(chart, row).forEach((line) => report.addElement(chart.tooltip, "div", "", line));
    const { clientWidth, clientHeight } = chart.u.over;
    // Beside the pointer, on the side with more room, and within the drawn area.
    const width = chart.tooltip.offsetWidth;
    const beside = left > clientWidth / 2 ? left - 14 - width : left + 14;
    chart.tooltip.style.left = `${Math.max(Math.min(beside, clientWidth - width), 0)}px`;
    chart.tooltip.style.top = `${Math.min(Math.max(top - 10, 0), Math.max(clientHeight - 60, 0))}px`;
    if (chart.plot.kind !== "time" || !chart.plot.markers) chart.link.setTime(chart.section.decoded[0][row]);
  }

  // Marks the time `time` (s): a line in a plot over time, a point on each curve in others.
  function showTime(chart, time) {
    const { u, section, marks } = chart;
    if (!u || chart.plot.markers || section.order) return;
    if (chart.plot.kind === "time") {
      const left = u.valToPos(time, "x");
      marks[0].style.left = `${left}px`;
      marks[0].hidden = left < 0 || left > u.over.clientWidth;
      return;
    }
    chart.items.forEach((item, i) => {
      const [x, y] = item.data.map((column) => report.interpolate(section.decoded[0], column, time));
      const [left, top] = [u.valToPos(x, "x"), u.valToPos(y, "y")];
      const isInside = left >= 0 && left <= u.over.clientWidth && top >= 0 && top <= u.over.clientHeight;
      marks[i].hidden = !isInside;
      if (isInside) [marks[i].style.left, marks[i].style.top] = [`${left}px`, `${top}px`];
    });
  }

  // Returns the options of uPlot for a chart of the given size.
  function plotOptions(chart, width, height) {
    const { style, plot } = chart;
    const parts = [...new Set(chart.items.map((item) => item.curve.part))];
    const series = chart.items.map(({ line, curve }) => {
      // Curves of further parts are thinner.
      const scale = (chart.scale < 1 ? 0.6 : 1) * (parts.indexOf(curve.part) > 0 ? 0.55 : 1);
      const dash = line.dash.map((length) => length * (chart.scale < 1 ? 0.6 : 1) * chart.ratio);
      return {
        stroke: line.colour, width: line.width * scale, dash, points: { show: false },
        paths: plot.kind === "scatter" ? () => null : report.linePath,
        facets: [{ scale: "x", auto: true }, { scale: "y", auto: true }],
      };
    });
    return {
      mode: 2, width, height,
      padding: [TOP_PX, chart.gutter, 0, 0],
      legend: { show: false },
      scales: { x: { time: false, range: () => chart.view.x }, y: { range: () => chart.view.y } },
      axes: [
        axisOptions(chart, plot.x, X_AXIS_PX * chart.scale),
        axisOptions(chart, yAxis(chart), yAxisSize(chart)),
      ],
      cursor: {
        x: false, y: false, points: { show: false },
        drag: { x: true, y: plot.kind !== "time", setScale: false, uni: 8 },
        bind: {
          mousedown: (u, target, handler) => (event) => (event.shiftKey ? pan(chart, event) : handler(event)),
          dblclick: () => () => showAll(chart),
        },
      },
      series: [null, ...series],
      hooks: {
        drawClear: [(u) => report.drawBackground(chart, u)],
        draw: report.chartMarks.map((drawMark) => (u) => drawMark(chart, u)),
        setCursor: [() => chart.u && showValues(chart)],
        setSelect: [() => zoomToSelection(chart)],
      },
    };
  }

  // Returns the y axis, whose label says so in the view of differences.
  function yAxis(chart) {
    const { y } = chart.plot;
    return chart.showsDifferences ? { ...y, label: `difference in ${y.label}` } : y;
  }

  // Creates the marks of the time and the tooltip in the drawn area.
  function addOverlays(chart) {
    const { over } = chart.u;
    const markCount = chart.plot.kind === "time" ? 1 : chart.items.length;
    chart.marks = Array.from({ length: markCount }, () =>
      report.addElement(over, "div", chart.plot.kind === "time" ? "time-line" : "time-dot"));
    chart.marks.forEach((mark) => { mark.hidden = true; });
    chart.tooltip = report.addElement(over, "div", "tooltip");
    chart.tooltip.hidden = true;
    over.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = over.getBoundingClientRect();
      const x = chart.u.posToVal(event.clientX - box.left, "x");
      const y = chart.u.posToVal(event.clientY - box.top, "y");
      zoom(chart, event.deltaY < 0 ? 1 / ZOOM_STEP : ZOOM_STEP, x, y);
    }, { passive: false });
  }

  // Removes the drawing of a chart.
  function clear(chart) {
    chart.u?.destroy();
    chart.u = undefined;
  }

  // Draws the chart in its figure at the width of the page, or `printWidth` (px) for a print.
  function draw(chart, printWidth) {
    const width = printWidth ?? chart.place.clientWidth;
    if (width === 0) return;
    clear(chart);
    chart.style = report.readStyle();
    chart.ratio = window.devicePixelRatio;
    [chart.scale, chart.fontPx] = printWidth ? [PRINT_SCALE, 8] : [1, 12];
    chart.items = drawnItems(chart);
    chart.gutter = report.labelWidth(chart, width);
    const view = chart.view;
    chart.view = view ?? { x: chart.plot.x.range, y: chart.plot.y.range };
    const height = Math.round(chartHeight(chart, width));
    const data = [null, ...chart.items.map((item) => item.data)];
    const u = new uPlot(plotOptions(chart, width, height), data, chart.place);
    chart.u = u;
    addOverlays(chart);
    if (view) showRange(chart, view.x, view.y);
    else showAll(chart);
  }

  // Adds a button with a description to the tools of a chart.
  function addButton(tools, text, title, action) {
    const button = report.addElement(tools, "button", "", text);
    [button.type, button.title] = ["button", title];
    button.setAttribute("aria-label", title);
    button.addEventListener("click", () => action(button));
    return button;
  }

  // Adds the tools of a chart: differences, closer, farther, all.
  function addTools(chart) {
    const tools = report.addElement(chart.figure, "div", "tools");
    const hasSeveralSolvers = chart.plot.curves.some((curve) => curve.members.length > 1)
      || new Set(chart.plot.curves.map((curve) => curve.members[0].solver)).size > 1;
    if (chart.plot.kind === "time" && hasSeveralSolvers && !chart.plot.markers) {
      const button = addButton(tools, "Δ", "Difference from the first solver", () => {
        chart.showsDifferences = !chart.showsDifferences;
        button.setAttribute("aria-pressed", chart.showsDifferences);
        chart.view = undefined;
        draw(chart);
      });
      button.setAttribute("aria-pressed", "false");
    }
    const zoomText = "Zoom in (drag, or Ctrl and wheel; Shift and drag moves)";
    addButton(tools, "+", zoomText, () => zoomMiddle(chart, 1 / ZOOM_STEP));
    addButton(tools, "−", "Zoom out", () => zoomMiddle(chart, ZOOM_STEP));
    addButton(tools, "⟲", "Show all (double click)", () => showAll(chart));
  }

  // Creates the chart of a figure. It is drawn when [`draw`] is called.
  function createChart(figure, section, plot, link) {
    const chart = { figure, section, plot, link, place: figure.querySelector(".plot"), showsDifferences: false };
    chart.draw = (printWidth) => draw(chart, printWidth);
    chart.clear = () => clear(chart);
    chart.showTime = (time) => showTime(chart, time);
    chart.showX = (x) => {
      if (!chart.u || chart.plot.kind !== "time") return;
      chart.view.x = x;
      chart.u.batch(() => chart.u.setScale("x", { min: x[0], max: x[1] }));
      chart.showTime(link.time);
    };
    addTools(chart);
    return chart;
  }

  Object.assign(report, { createChart });
})();
