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
  // Smallest distance of two labels, as a multiple of the font size (–).
  const LABEL_SPACING = 1.15;

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
        const { solver } = curve.members[0];
        items.push({ curve, solver, label: curveLabel(chart, curve), data: memberColumns(chart, curve, curve.members[0]) });
        continue;
      }
      const reference = chart.plot.curves.find((other) => other.part === curve.part).members[0];
      for (const member of curve.members.filter((member) => member !== reference)) {
        if (chart.section.solvers[member.solver].peer) continue;
        const name = chart.section.solvers[member.solver].name;
        const label = curve.part === "" ? name : `${curve.part} ${name}`;
        items.push({ curve, solver: member.solver, label, data: memberColumns(chart, curve, member) });
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

  // Draws a curve as a line through its points, with gaps at missing values.
  function linePath(u, index) {
    return uPlot.orient(u, index, (series, xs, ys, xScale, yScale, toX, toY, left, top, width, height) => {
      const path = new Path2D();
      let isOpen = false;
      for (let row = 0; row < xs.length; row++) {
        const isPoint = Number.isFinite(xs[row]) && Number.isFinite(ys[row]);
        if (isPoint) {
          const [x, y] = [toX(xs[row], xScale, width, left), toY(ys[row], yScale, height, top)];
          if (isOpen) path.lineTo(x, y);
          else path.moveTo(x, y);
        }
        isOpen = isPoint;
      }
      return { stroke: path, fill: null, clip: null, flags: 0 };
    });
  }

  // Returns functions that convert values of the chart to pixels of its canvas.
  function canvasPositions(u) {
    return [(x) => u.valToPos(x, "x", true), (y) => u.valToPos(y, "y", true)];
  }

  // Runs `draw` with the canvas clipped to the drawn area.
  function clipped(u, draw) {
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    u.ctx.clip();
    draw(u.ctx);
    u.ctx.restore();
  }

  // Draws what is below the curves: the ground of a map, and the filled ground of a profile.
  function drawBackground(chart, u) {
    const [toX, toY] = canvasPositions(u);
    const { section, plot, style } = chart;
    clipped(u, (context) => {
      if (plot.kind === "map" && section.ground) report.drawGround(context, section.ground, style, toX, toY);
      if (!plot.floor) return;
      const [xs, ys] = plot.floor.map((column) => section.decoded[column]);
      const bottom = u.bbox.top + u.bbox.height;
      context.fillStyle = style.low;
      for (let row = 1; row < xs.length; row++) {
        if (!Number.isFinite(ys[row - 1] + ys[row] + xs[row - 1] + xs[row])) continue;
        const [left, right] = [toX(xs[row - 1]), toX(xs[row])];
        context.beginPath();
        context.moveTo(left, bottom);
        context.lineTo(left, toY(ys[row - 1]));
        context.lineTo(right + 1, toY(ys[row]));
        context.lineTo(right + 1, bottom);
        context.fill();
      }
    });
  }

  // Draws cones as triangles, horizontal lines, and the points of curves with markers.
  function drawMarks(chart, u) {
    const [toX, toY] = canvasPositions(u);
    const { plot, style, ratio } = chart;
    clipped(u, (context) => {
      context.fillStyle = style.ink;
      for (const [x, y] of plot.cones) {
        const [left, top, size] = [toX(x), toY(y), 3.5 * ratio];
        context.beginPath();
        context.moveTo(left, top - size);
        context.lineTo(left + 0.8 * size, top + 0.6 * size);
        context.lineTo(left - 0.8 * size, top + 0.6 * size);
        context.fill();
      }
      context.strokeStyle = style.ink;
      context.setLineDash([2 * ratio, 4 * ratio]);
      for (const level of chart.showsDifferences ? [0] : plot.levels) {
        context.beginPath();
        context.moveTo(u.bbox.left, toY(level));
        context.lineTo(u.bbox.left + u.bbox.width, toY(level));
        context.stroke();
      }
      if (!plot.markers) return;
      for (const item of chart.items) {
        context.fillStyle = style.solver(item.solver).colour;
        item.data[0].forEach((x, row) => {
          if (!Number.isFinite(item.data[1][row])) return;
          context.beginPath();
          context.arc(toX(x), toY(item.data[1][row]), 3 * ratio, 0, 2 * Math.PI);
          context.fill();
        });
      }
    });
  }

  // Returns the last point of an item inside the drawn area, in pixels of the canvas; undefined if there is none.
  function lastVisiblePoint(u, item) {
    const [toX, toY] = canvasPositions(u);
    const { left, top, width, height } = u.bbox;
    for (let row = item.data[0].length - 1; row >= 0; row--) {
      const [x, y] = [toX(item.data[0][row]), toY(item.data[1][row])];
      if (x >= left - 1 && x <= left + width + 1 && y >= top && y <= top + height) return { x, y };
    }
    return undefined;
  }

  // Draws the label of each curve at the height of its last visible point: beside the drawn area of a plot over time,
  // beside the point in others. Labels that would overlap are moved apart, and a thin line leads to their curve.
  function drawLabels(chart, u) {
    if (chart.items.length < 2 || hasParts(chart)) return;
    const { ctx: context, bbox } = u;
    const spacing = chart.fontPx * LABEL_SPACING * chart.ratio;
    const labels = chart.items.map((item) => ({ item, point: lastVisiblePoint(u, item) })).filter((label) => label.point);
    labels.sort((a, b) => a.point.y - b.point.y);
    labels.forEach((label, i) => {
      label.y = Math.max(label.point.y, i > 0 ? labels[i - 1].y + spacing : bbox.top + spacing / 2);
    });
    let limit = bbox.top + bbox.height + chart.fontPx * chart.ratio;
    for (const label of labels.toReversed()) {
      label.y = Math.min(label.y, limit);
      limit = label.y - spacing;
    }
    context.save();
    context.font = `${chart.fontPx * chart.ratio}px ${report.FONT_FAMILY}`;
    context.setLineDash([]);
    [context.lineWidth, context.textAlign, context.textBaseline] = [chart.ratio, "left", "middle"];
    const edge = bbox.left + bbox.width + 12 * chart.ratio;
    for (const { item, point, y } of labels) {
      const left = chart.plot.kind === "time" ? edge : point.x + 12 * chart.ratio;
      const { colour } = chart.style.solver(item.solver);
      context.strokeStyle = colour;
      context.globalAlpha = 0.6;
      context.beginPath();
      context.moveTo(point.x, point.y);
      context.lineTo(left - 2 * chart.ratio, y);
      context.stroke();
      context.globalAlpha = 1;
      context.fillStyle = chart.style.ink;
      context.fillText(item.label, left, y);
    }
    context.restore();
  }

  // Returns whether the chart has curves of several parts of the car.
  function hasParts(chart) {
    return new Set(chart.items.map((item) => item.curve.part)).size > 1;
  }

  // Returns the point of a curve over time at which it is farthest from all other curves, in pixels of the canvas, and
  // at which a label of the width `width` overlaps none of the labels `placed`; undefined if there is none.
  function freestPoint(chart, u, item, width, placed) {
    const [toX, toY] = canvasPositions(u);
    const others = chart.items.filter((other) => other !== item);
    let [best, bestDistance] = [undefined, -1];
    item.data[1].forEach((value, row) => {
      const [x, y] = [toX(item.data[0][row]), toY(value)];
      const margin = 8 * chart.ratio;
      const isInside = x > u.bbox.left + margin && x + width < u.bbox.left + u.bbox.width - margin
        && y > u.bbox.top + margin && y < u.bbox.top + u.bbox.height - margin;
      const overlaps = (other) => x < other.x + other.width + margin && other.x < x + width + margin
        && Math.abs(y - other.y) < LABEL_SPACING * chart.fontPx * chart.ratio;
      if (!isInside || placed.some(overlaps)) return;
      const distances = others.map((other) => Math.abs(toY(other.data[1][row]) - y));
      const distance = Math.min(...distances.filter(Number.isFinite), 90 * chart.ratio);
      if (distance > bestDistance) [best, bestDistance] = [{ x, y }, distance];
    });
    return best;
  }

  // Draws the label of each curve of a chart with several parts inside the drawn area, where its curve is farthest from
  // the others.
  function drawPartLabels(chart, u) {
    if (!hasParts(chart)) return;
    const { ctx: context } = u;
    context.save();
    context.setLineDash([]);
    context.font = `${chart.fontPx * chart.ratio}px ${report.FONT_FAMILY}`;
    [context.textAlign, context.textBaseline, context.lineWidth] = ["left", "middle", 3 * chart.ratio];
    const placed = [];
    for (const item of chart.items) {
      const { width } = context.measureText(item.label);
      const point = freestPoint(chart, u, item, width, placed);
      if (!point) continue;
      placed.push({ ...point, width });
      const place = [point.x + 5 * chart.ratio, point.y];
      context.strokeStyle = chart.style.panel;
      context.strokeText(item.label, ...place);
      context.fillStyle = chart.style.ink;
      context.fillText(item.label, ...place);
    }
    context.restore();
  }

  // Marks curves that leave the drawn area with a triangle at the border, with the value that is farthest away.
  function drawOutliers(chart, u) {
    const { ctx: context, bbox } = u;
    const outside = chart.showsDifferences ? [] : chart.items.filter(({ curve }) => curve.outlier !== null
      && (curve.outlier < u.scales.y.min || curve.outlier > u.scales.y.max));
    context.save();
    context.font = `${chart.fontPx * chart.ratio}px ${report.FONT_FAMILY}`;
    outside.forEach((item, i) => {
      const isAbove = item.curve.outlier > u.scales.y.max;
      const border = isAbove ? bbox.top : bbox.top + bbox.height;
      const row = item.data[1].findIndex((y) => (isAbove ? y > u.scales.y.max : y < u.scales.y.min));
      const x = Math.min(Math.max(u.valToPos(item.data[0][row], "x", true), bbox.left), bbox.left + bbox.width);
      const size = 6 * chart.ratio * (isAbove ? 1 : -1);
      context.fillStyle = chart.style.solver(item.solver).colour;
      context.beginPath();
      context.moveTo(x, border);
      context.lineTo(x + size, border + 1.4 * size);
      context.lineTo(x - size, border + 1.4 * size);
      context.fill();
      const value = report.withUnit(report.formatNumber(item.curve.outlier, Math.abs(item.curve.outlier) / 100), chart.plot.y.unit);
      const text = `${item.label} to ${value}`;
      const isRight = x + context.measureText(text).width + 12 * chart.ratio > bbox.left + bbox.width;
      context.textAlign = isRight ? "right" : "left";
      context.textBaseline = isAbove ? "top" : "bottom";
      context.lineWidth = 3 * chart.ratio;
      context.strokeStyle = chart.style.panel;
      const place = [x + (isRight ? -9 : 9) * chart.ratio, border + size * (0.4 + 2.2 * i)];
      context.strokeText(text, ...place);
      context.fillStyle = chart.style.ink;
      context.fillText(text, ...place);
    });
    context.restore();
  }

  // Returns the width of the widest label (px), 4 px without labels.
  function labelWidth(chart, width) {
    if (chart.items.length < 2 || hasParts(chart)) return 4;
    const context = document.createElement("canvas").getContext("2d");
    context.font = `${chart.fontPx}px ${report.FONT_FAMILY}`;
    const widest = Math.max(...chart.items.map((item) => context.measureText(item.label).width));
    return Math.min(widest + 16, 0.35 * width);
  }

  // Returns the texts of ticks, all with the smallest number of decimal places that shows each tick exactly.
  function tickTexts(ticks) {
    const isExact = (places) => ticks.every((tick) => Math.abs(tick - Number(tick.toFixed(places))) < 1e-9 * Math.abs(tick) + 1e-12);
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

  // Returns the lines of the tooltip at a row: column 0, then the values of every solver.
  function tooltipLines(chart, row) {
    const { plot, section } = chart;
    const resolution = (range) => (range[1] - range[0]) / 2000;
    const value = (number, axis, range) => report.withUnit(report.formatNumber(number, resolution(range)), axis.unit);
    const order = section.decoded[0];
    const orderAxis = plot.kind === "time" ? plot.x : { label: "time", unit: "s" };
    const lines = [`${orderAxis.label} ${value(order[row], orderAxis, [order[0], order[order.length - 1]])}`];
    for (const curve of plot.curves) {
      for (const member of curve.members) {
        const [x, y] = memberColumns(chart, curve, member);
        const name = [curve.part, section.solvers[member.solver].name].filter((part) => part !== "").join(" ");
        const yText = value(y[row], plot.y, chart.view.y);
        lines.push(plot.kind === "time" ? `${name}: ${yText}` : `${name}: ${value(x[row], plot.x, chart.view.x)}; ${yText}`);
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
    const isRight = left > clientWidth / 2;
    chart.tooltip.style.left = isRight ? "" : `${left + 14}px`;
    chart.tooltip.style.right = isRight ? `${clientWidth - left + 14}px` : "";
    chart.tooltip.style.top = `${Math.min(Math.max(top - 10, 0), Math.max(clientHeight - 60, 0))}px`;
    if (chart.plot.kind !== "time" || !chart.plot.markers) chart.link.setTime(chart.section.decoded[0][row]);
  }

  // Marks the time `time` (s): a line in a plot over time, a point on each curve in others.
  function showTime(chart, time) {
    const { u, section, marks } = chart;
    if (!u || chart.plot.markers) return;
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
    const series = chart.items.map(({ solver, curve }) => {
      const line = style.solver(solver);
      // Curves of further parts are thinner.
      const scale = (chart.scale < 1 ? 0.6 : 1) * (parts.indexOf(curve.part) > 0 ? 0.55 : 1);
      const dash = line.dash.map((length) => length * (chart.scale < 1 ? 0.6 : 1) * chart.ratio);
      return {
        stroke: line.colour, width: line.width * scale, dash, paths: linePath, points: { show: false },
        facets: [{ scale: "x", auto: true }, { scale: "y", auto: true }],
      };
    });
    return {
      mode: 2, width, height,
      padding: [TOP_PX, chart.gutter, 0, 0],
      legend: { show: false },
      scales: { x: { time: false, range: () => chart.view.x }, y: { range: () => chart.view.y } },
      axes: [axisOptions(chart, plot.x, X_AXIS_PX * chart.scale), axisOptions(chart, yAxis(chart), yAxisSize(chart))],
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
        drawClear: [(u) => drawBackground(chart, u)],
        draw: [drawMarks, drawLabels, drawPartLabels, drawOutliers].map((drawPart) => (u) => drawPart(chart, u)),
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
      const [x, y] = [chart.u.posToVal(event.clientX - box.left, "x"), chart.u.posToVal(event.clientY - box.top, "y")];
      zoom(chart, event.deltaY < 0 ? 1 / ZOOM_STEP : ZOOM_STEP, x, y);
    }, { passive: false });
  }

  // Draws the chart in its figure at the width of the page, or `printWidth` (px) for a print.
  function draw(chart, printWidth) {
    const width = printWidth ?? chart.place.clientWidth;
    if (width === 0) return;
    chart.u?.destroy();
    chart.u = undefined;
    chart.style = report.readStyle();
    [chart.ratio, chart.scale, chart.fontPx] = [window.devicePixelRatio, printWidth ? PRINT_SCALE : 1, printWidth ? 8 : 12];
    chart.items = drawnItems(chart);
    chart.gutter = labelWidth(chart, width);
    const view = chart.view;
    chart.view = view ?? { x: chart.plot.x.range, y: chart.plot.y.range };
    const height = Math.round(chartHeight(chart, width));
    const u = new uPlot(plotOptions(chart, width, height), [null, ...chart.items.map((item) => item.data)], chart.place);
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
    addButton(tools, "+", "Zoom in (drag, or Ctrl and wheel; Shift and drag moves)", () => zoomMiddle(chart, 1 / ZOOM_STEP));
    addButton(tools, "−", "Zoom out", () => zoomMiddle(chart, ZOOM_STEP));
    addButton(tools, "⟲", "Show all (double click)", () => showAll(chart));
  }

  // Creates the chart of a figure. It is drawn when [`draw`] is called.
  function createChart(figure, section, plot, link) {
    const chart = { figure, section, plot, link, place: figure.querySelector(".plot"), showsDifferences: false };
    chart.draw = (printWidth) => draw(chart, printWidth);
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
