// Start of the page: creates charts and replays of all sections when they come into view, and links their times.
"use strict";

(() => {
  // Number of columns, gap and width of the charts on a printed page (px); see the style sheet.
  const [PRINT_COLUMNS, PRINT_WIDTH_PX, PRINT_GAP_PX] = [3, 718, 15];

  // Returns the link of a section: its time (s), which all charts and the replay show, and the shared range of time.
  function createLink() {
    const link = { time: 0, charts: [], replay: undefined };
    link.setTime = (time) => {
      link.time = time;
      link.charts.forEach((chart) => chart.showTime(time));
      link.replay?.draw();
    };
    let isSharing = false;
    link.shareRange = (source, range) => {
      if (isSharing) return;
      isSharing = true;
      link.charts.filter((chart) => chart !== source).forEach((chart) => chart.showX(range));
      isSharing = false;
    };
    return link;
  }

  // Creates the charts and the replay of a section.
  function createSection(section, number) {
    section.decoded = report.decodeColumns(section);
    const link = createLink();
    link.section = section;
    for (const figure of document.querySelectorAll(`figure[data-section="${number}"]`)) {
      link.charts.push(report.createChart(figure, section, section.plots[Number(figure.dataset.plot)], link));
    }
    const place = document.querySelector(`.replay[data-section="${number}"]`);
    if (place && section.replay) link.replay = report.createReplay(place, section, link);
    return link;
  }

  // Distance from the visible part of the page at which charts and replays are drawn (px).
  const NEAR_PX = 600;

  // Draws a chart or a replay when it comes near the visible part of the page.
  function drawWhenVisible(element, draw) {
    if (element.getBoundingClientRect().top < window.innerHeight + NEAR_PX) {
      draw();
      return;
    }
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      draw();
    }, { rootMargin: `${NEAR_PX}px` });
    observer.observe(element);
  }

  // Runs `action` with every chart.
  function eachChart(links, action) {
    links.forEach((link) => link.charts.forEach(action));
  }

  // Draws all charts again, after a change of the width or of the colours.
  function redraw(links) {
    links.forEach((link) => {
      // The picture of the ground has the colours of the scheme.
      if (link.section.ground) link.section.ground.picture = undefined;
      link.charts.filter((chart) => chart.u).forEach((chart) => chart.draw());
      link.replay?.restyle();
    });
  }

  // Draws all charts for a print: light colours, small texts, several columns.
  function drawForPrint(links) {
    document.documentElement.dataset.print = "";
    const columnWidth = (PRINT_WIDTH_PX - PRINT_GAP_PX * (PRINT_COLUMNS - 1)) / PRINT_COLUMNS - 10;
    eachChart(links, (chart) => {
      chart.isOnScreen = Boolean(chart.u);
      const isWide = chart.figure.classList.contains("wide");
      chart.draw(isWide ? PRINT_WIDTH_PX - 12 : columnWidth);
    });
  }

  // Draws the charts for the screen after a print. Charts that were not drawn before wait until they are visible.
  function drawForScreen(links) {
    delete document.documentElement.dataset.print;
    eachChart(links, (chart) => (chart.isOnScreen ? chart.draw() : chart.clear()));
  }

  // Shows the time of the fragment, such as `#time=2.5`, in all sections.
  function showFragmentTime(links) {
    const time = new URLSearchParams(location.hash.slice(1)).get("time");
    if (time !== null) links.forEach((link) => link.setTime(Number(time)));
  }

  // Creates the page and registers the events that draw it again.
  function start() {
    const { sections } = JSON.parse(document.getElementById("report-data").textContent);
    const links = sections.map(createSection);
    eachChart(links, (chart) => drawWhenVisible(chart.figure, () => chart.u ?? chart.draw()));
    links.filter((link) => link.replay).forEach((link) => drawWhenVisible(link.replay.topCanvas, link.replay.draw));
    window.addEventListener("beforeprint", () => drawForPrint(links));
    window.addEventListener("afterprint", () => drawForScreen(links));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw(links));
    let width = document.documentElement.clientWidth;
    window.addEventListener("resize", () => {
      if (document.documentElement.clientWidth === width) return;
      width = document.documentElement.clientWidth;
      redraw(links);
    });
    showFragmentTime(links);
    if (location.hash === "#self-test") report.selfTest(links);
  }

  start();
})();
