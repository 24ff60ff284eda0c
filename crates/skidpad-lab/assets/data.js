// Reads the data of the page: columns of numbers over the rows of a run.
"use strict";

// Functions of all scripts of the page.
const report = {};

(() => {
  // Returns the bytes of base64 text.
  function bytesOf(text) {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  }

  // Returns the 32-bit numbers of base64 text (little endian); NaN is a missing value.
  function floatsOf(text) {
    const view = new DataView(bytesOf(text).buffer);
    return Float64Array.from({ length: view.byteLength / 4 }, (_, i) => view.getFloat32(4 * i, true));
  }

  // Returns the sums of `reference` and the 16-bit differences in base64 text, in steps of `step`. A missing value of
  // the reference counts as 0; the smallest 16-bit number is a missing value.
  function differencesOf(text, step, reference) {
    const view = new DataView(bytesOf(text).buffer);
    return Float64Array.from({ length: view.byteLength / 2 }, (_, i) => {
      const steps = view.getInt16(2 * i, true);
      return steps === -32768 ? NaN : (Number.isNaN(reference[i]) ? 0 : reference[i]) + steps * step;
    });
  }

  // Returns the columns of a section as arrays of numbers. A column refers to earlier columns only.
  function decodeColumns(section) {
    const columns = [];
    for (const column of section.columns) {
      if (column === null) {
        columns.push(new Float64Array(section.rows).fill(NaN));
      } else if (typeof column === "number") {
        columns.push(new Float64Array(section.rows).fill(column));
      } else if (column.f !== undefined) {
        columns.push(floatsOf(column.f));
      } else {
        columns.push(differencesOf(column.d, column.q, columns[column.of]));
      }
    }
    return columns;
  }

  // Returns the number of the last value of the ascending array `values` that is not above `value`, at least 0.
  function rowAt(values, value) {
    let low = 0;
    let high = values.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (values[middle] <= value) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // Returns the number of the value of the ascending array `values` that is nearest to `value`.
  function nearestRow(values, value) {
    const row = rowAt(values, value);
    return row + 1 < values.length && values[row + 1] - value < value - values[row] ? row + 1 : row;
  }

  // Returns `column` at `value` of the ascending column `order`, linear between rows.
  function interpolate(order, column, value) {
    const row = rowAt(order, value);
    const next = Math.min(row + 1, order.length - 1);
    const width = order[next] - order[row];
    const share = width > 0 ? Math.min(Math.max((value - order[row]) / width, 0), 1) : 0;
    return share === 0 ? column[row] : column[row] + share * (column[next] - column[row]);
  }

  // Formats a number with as many decimal places as distinguish values that differ by `resolution`.
  function formatNumber(value, resolution) {
    if (!Number.isFinite(value)) return "–";
    const places = resolution > 0 ? Math.min(Math.max(-Math.floor(Math.log10(resolution)), 0), 8) : 3;
    const text = value.toFixed(places);
    return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
  }

  // Returns a number with its unit; "-" is no unit.
  function withUnit(text, unit) {
    return unit === "-" ? text : `${text} ${unit}`;
  }

  // Creates an element with the class `className` and the text `text` in `parent`.
  function addElement(parent, tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }

  Object.assign(report, {
    decodeColumns, rowAt, nearestRow, interpolate, formatNumber, withUnit, addElement, bytesOf,
  });
})();
