// Marks of a chart besides axes and curves: ground, cones, lines, direct labels, and curves that leave the plot.
"use strict";

(() => {
  // Smallest distance of two labels, as a multiple of the font size (–).
  const LABEL_SPACING = 1.15;
  // Distance and radius of the circles on the curve of a measured log (px).
  const [CIRCLE_SPACING_PX, CIRCLE_RADIUS_PX] = [24, 3];

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

  // Draws circles on the curve of an item, so that it differs from the lines of solvers without colours.
  function drawCircles(chart, u, item) {
    const [toX, toY] = canvasPositions(u);
    const { ctx: context } = u;
    const scale = chart.ratio * (chart.scale < 1 ? 0.6 : 1);
    [context.strokeStyle, context.fillStyle, context.lineWidth] = [item.line.colour, chart.style.panel, scale];
    context.setLineDash([]);
    let [lastX, lastY] = [-Infinity, -Infinity];
    item.data[0].forEach((value, row) => {
      const [x, y] = [toX(value), toY(item.data[1][row])];
      if (!Number.isFinite(x + y) || Math.hypot(x - lastX, y - lastY) < CIRCLE_SPACING_PX * scale) return;
      [lastX, lastY] = [x, y];
      context.beginPath();
      context.arc(x, y, CIRCLE_RADIUS_PX * scale, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    });
  }

  // Draws cones as triangles, horizontal lines, circles of measured logs, and the points of curves with markers.
  function drawMarks(chart, u) {
    const [toX, toY] = canvasPositions(u);
    const { plot, style, ratio } = chart;
    clipped(u, (context) => {
      context.fillStyle = style.ink;
      for (const [x, y] of plot.kind === "map" ? chart.section.cones : []) {
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
      chart.items.filter((item) => item.line.hasCircles).forEach((item) => drawCircles(chart, u, item));
      if (!plot.markers) return;
      for (const item of chart.items) {
        context.fillStyle = item.line.colour;
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
    const labels = chart.items
      .map((item) => ({ item, point: lastVisiblePoint(u, item) }))
      .filter((label) => label.point);
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
    [context.textAlign, context.textBaseline] = ["left", "middle"];
    const edge = bbox.left + bbox.width + 12 * chart.ratio;
    for (const { item, point, y } of labels) {
      const left = chart.plot.kind === "time" ? edge : point.x + 12 * chart.ratio;
      [context.lineWidth, context.strokeStyle] = [chart.ratio, item.line.colour];
      context.globalAlpha = 0.6;
      context.beginPath();
      context.moveTo(point.x, point.y);
      context.lineTo(left - 2 * chart.ratio, y);
      context.stroke();
      context.globalAlpha = 1;
      // An outline in the colour of the background separates the label from curves below it.
      [context.lineWidth, context.strokeStyle] = [3 * chart.ratio, chart.style.panel];
      context.strokeText(item.label, left, y);
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

  // Marks curves that leave the drawn area with a triangle at the border. The key of the plot has the farthest value.
  function drawOutliers(chart, u) {
    const { ctx: context, bbox } = u;
    const outside = chart.showsDifferences ? [] : chart.items.filter(({ curve }) => curve.outlier !== null
      && (curve.outlier < u.scales.y.min || curve.outlier > u.scales.y.max));
    context.save();
    for (const item of outside) {
      const isAbove = item.curve.outlier > u.scales.y.max;
      const border = isAbove ? bbox.top : bbox.top + bbox.height;
      const row = item.data[1].findIndex((y) => (isAbove ? y > u.scales.y.max : y < u.scales.y.min));
      const x = Math.min(Math.max(u.valToPos(item.data[0][row], "x", true), bbox.left), bbox.left + bbox.width);
      const size = 6 * chart.ratio * (isAbove ? 1 : -1);
      context.fillStyle = item.line.colour;
      context.beginPath();
      context.moveTo(x, border);
      context.lineTo(x + size, border + 1.4 * size);
      context.lineTo(x - size, border + 1.4 * size);
      context.fill();
    }
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

  Object.assign(report, {
    linePath, drawBackground, labelWidth, chartMarks: [drawMarks, drawLabels, drawPartLabels, drawOutliers],
  });
})();
