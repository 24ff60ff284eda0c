// Colours, widths and dashes of the style sheet, for drawings on a canvas.
"use strict";

(() => {
  // Names of the line styles: six for solvers, those of a measured log and of a closed form.
  const LINE_STYLES = ["0", "1", "2", "3", "4", "5", "m", "c"];
  // Font of all texts on a canvas, without the size.
  const FONT_FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';

  // Returns the value of the custom property `name` of the style sheet.
  function property(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  // Returns the colours and line styles of the current scheme (light, dark or print).
  function readStyle() {
    const lines = Object.fromEntries(LINE_STYLES.map((name) => [name, {
      colour: property(`--s${name}`),
      width: Number(property(`--w${name}`)),
      dash: property(`--d${name}`).split(" ").map(Number).filter((length) => length > 0),
      hasCircles: name === "m",
    }]));
    const names = ["paper", "panel", "ink", "quiet", "rule", "low", "high", "alarm", "force", "load"];
    const colours = Object.fromEntries(names.map((name) => [name, property(`--${name}`)]));
    // Returns the line of a source of a section.
    const lineOf = (source) => lines[source.line];
    return { ...colours, lineOf };
  }

  // Returns the red, green and blue part of a colour such as "#a0b1c2".
  function rgb(colour) {
    return [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
  }

  // Returns a canvas with the picture of the ground: lighter is higher, and a tint of the first solver's colour is less
  // grip. Row 0 of the data is the lowest row of the picture.
  function groundPicture(ground, style) {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [ground.columns, ground.rows];
    const context = canvas.getContext("2d");
    const image = context.createImageData(ground.columns, ground.rows);
    const [low, high, tinted] = [style.low, style.high, style.lineOf({ line: "0" }).colour].map(rgb);
    report.bytesOf(ground.cells).forEach((cell, index) => {
      if (cell === 0) return;
      const shade = Math.floor((cell - 1) / (ground.tints + 1)) / (ground.shades - 1);
      const tint = 0.45 * ((cell - 1) % (ground.tints + 1)) / ground.tints;
      const row = ground.rows - 1 - Math.floor(index / ground.columns);
      const start = 4 * (row * ground.columns + index % ground.columns);
      for (let k = 0; k < 3; k++) {
        const grey = low[k] + (high[k] - low[k]) * shade;
        image.data[start + k] = grey + (tinted[k] - grey) * tint;
      }
      image.data[start + 3] = 255;
    });
    context.putImageData(image, 0, 0);
    return canvas;
  }

  // Draws the ground of a section on `context`. `toX` and `toY` convert positions (m) to pixels.
  function drawGround(context, ground, style, toX, toY) {
    ground.picture ??= groundPicture(ground, style);
    const [left, right] = [ground.x, ground.x + ground.columns * ground.side].map(toX);
    const [bottom, top] = [ground.y, ground.y + ground.rows * ground.side].map(toY);
    context.imageSmoothingEnabled = false;
    context.drawImage(ground.picture, left, top, right - left, bottom - top);
  }

  Object.assign(report, { readStyle, drawGround, FONT_FAMILY });
})();
