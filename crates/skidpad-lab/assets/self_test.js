// Test of the page by itself: a page with the fragment `#self-test` moves its replays and the pointer, and writes what
// it found into an element with this name.
"use strict";

// Errors of all scripts since the page was loaded.
report.errors = [];
window.addEventListener("error", (event) => report.errors.push(String(event.message)));
window.addEventListener("unhandledrejection", (event) => report.errors.push(String(event.reason)));

(() => {
  // Moves the pointer to the middle of a chart, and returns the text of its tooltip.
  function tooltipOf(chart) {
    chart.u ?? chart.draw();
    chart.figure.scrollIntoView();
    const { over } = chart.u;
    const box = over.getBoundingClientRect();
    const place = { clientX: box.left + 0.5 * box.width, clientY: box.top + 0.5 * box.height, bubbles: true };
    over.dispatchEvent(new MouseEvent("mouseenter", place));
    over.dispatchEvent(new MouseEvent("mousemove", place));
    // uPlot handles a movement of the pointer before the next picture.
    return new Promise((resolve) => setTimeout(() => resolve(chart.tooltip.hidden ? "" : chart.tooltip.innerText), 60));
  }

  // Plays a replay for a moment. Returns the times and poses before and after.
  async function playReplay(link) {
    link.setTime(0);
    const before = { time: link.time, ...link.replay.pose() };
    link.replay.toggle();
    await new Promise((resolve) => setTimeout(resolve, 700));
    link.replay.toggle();
    return { before, after: { time: link.time, ...link.replay.pose() } };
  }

  // Returns whether a canvas has pixels that are not transparent.
  function isDrawn(canvas) {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.some((value) => value !== 0);
  }

  // Tests all sections and writes the result as JSON into the page.
  async function selfTest(links) {
    const result = { charts: [], replays: [] };
    for (const link of links) {
      for (const chart of link.charts) {
        const tooltip = await tooltipOf(chart);
        result.charts.push({ title: chart.plot.title, tooltip, curves: chart.items.length });
      }
      if (!link.replay) continue;
      const played = await playReplay(link);
      const { topCanvas, rearCanvas, readout } = link.replay;
      result.replays.push({ ...played, drawn: [topCanvas, rearCanvas].map(isDrawn), readout: readout.textContent });
    }
    result.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    result.errors = report.errors;
    report.addElement(document.body, "pre", "", JSON.stringify(result)).id = "self-test";
  }

  Object.assign(report, { selfTest });
})();
