// Replay of a run: the cars of all solvers seen from above and from behind, with the forces of the tyres.
"use strict";

(() => {
  // Height of the views (px), and the time between two pictures of a replay that plays (ms).
  const [VIEW_HEIGHT_PX, PICTURE_MS] = [300, 16];
  // Length of an arrow for a tyre force equal to the static load (m).
  const FORCE_ARROW_M = 1.6;
  // Half width of a wheel as a share of its radius (–).
  const WHEEL_HALF_WIDTH = 0.32;
  // Widths of the section that the view from above can show (m).
  const VIEW_WIDTHS_M = [10, 16, 25, 40, 70, 120, 250];
  // Playing speeds (–).
  const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10];
  // Width of the section that the view from behind shows, as a multiple of the width of the car (–).
  const REAR_VIEW_WIDTHS = 2.1;

  // Returns the value of column `column` of a section at the time of the replay.
  function valueAt(replay, column) {
    const { decoded } = replay.section;
    return report.interpolate(decoded[0], decoded[column], replay.link.time);
  }

  // Returns the car of solver number `solver`.
  function carOf(replay, solver) {
    return replay.data.cars[replay.data.solvers[solver].car];
  }

  // Returns the line of solver number `solver`.
  function lineOf(replay, solver) {
    return replay.style.lineOf(replay.section.solvers[solver]);
  }

  // Returns the pose of solver number `solver`: position (m), yaw, steering and roll angle (rad).
  function poseOf(replay, solver) {
    const columns = replay.data.solvers[solver];
    const radians = (degrees) => (degrees * Math.PI) / 180;
    return {
      x: valueAt(replay, columns.x), y: valueAt(replay, columns.y), yaw: valueAt(replay, columns.yaw),
      steer: radians(valueAt(replay, columns.steer)), roll: radians(valueAt(replay, columns.roll)),
    };
  }

  // Returns load, longitudinal and lateral force (N) and compression (m) of a wheel.
  function wheelState(replay, solver, wheel) {
    const columns = replay.data.solvers[solver].wheels[wheel];
    const [load, fx, fy, compression] = columns.map((column) => valueAt(replay, column));
    return { load, fx, fy, compression };
  }

  // Returns the road-wheel angle of a wheel (rad) at the mean road-wheel angle `steer` (rad).
  function wheelAngle(car, wheel, steer) {
    const { angles } = wheel;
    if (!(car.lock > 0)) return angles[(angles.length - 1) / 2];
    const place = ((steer / car.lock + 1) / 2) * (angles.length - 1);
    const low = Math.min(Math.max(Math.floor(place), 0), angles.length - 2);
    return angles[low] + (place - low) * (angles[low + 1] - angles[low]);
  }

  // Prepares a canvas at the size of the page and returns its context in CSS pixels.
  function contextOf(canvas) {
    const ratio = window.devicePixelRatio;
    const width = canvas.clientWidth;
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(VIEW_HEIGHT_PX * ratio)];
    canvas.style.height = `${VIEW_HEIGHT_PX}px`;
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = `11.5px ${report.FONT_FAMILY}`;
    return [context, width, VIEW_HEIGHT_PX];
  }

  // Writes a text that is legible on any ground. `align` is "left" or "right".
  function write(replay, context, text, x, y, align = "left") {
    context.textAlign = align;
    [context.lineWidth, context.strokeStyle, context.fillStyle] = [3, replay.style.paper, replay.style.ink];
    context.strokeText(text, x, y);
    context.fillText(text, x, y);
  }

  // Draws a closed polygon through `points` (px), filled with `fill` and outlined with `stroke` unless one is absent.
  function polygon(context, points, fill, stroke) {
    context.beginPath();
    points.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
    context.closePath();
    if (fill) {
      // What is below stays visible.
      [context.fillStyle, context.globalAlpha] = [fill, fill === stroke || !stroke ? 1 : 0.7];
      context.fill();
      context.globalAlpha = 1;
    }
    if (stroke) { context.strokeStyle = stroke; context.stroke(); }
  }

  // Draws an arrow between two points (px); nothing if it is shorter than 3 px.
  function arrow(context, [x0, y0], [x1, y1], colour) {
    const [dx, dy] = [x1 - x0, y1 - y0];
    const length = Math.hypot(dx, dy);
    if (!(length > 3)) return;
    const head = Math.min(7, 0.5 * length) / length;
    context.save();
    context.setLineDash([]);
    [context.lineWidth, context.strokeStyle] = [2, colour];
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1 - dx * head * 0.7, y1 - dy * head * 0.7);
    context.stroke();
    const base = [x1 - dx * head, y1 - dy * head];
    const side = [-dy * head * 0.5, dx * head * 0.5];
    const [left, right] = [1, -1].map((sign) => [base[0] + sign * side[0], base[1] + sign * side[1]]);
    polygon(context, [[x1, y1], left, right], colour);
    context.restore();
  }

  // Returns a function that converts a point of the vehicle (m, forward and left of its centre of mass) to pixels.
  function vehicleToPixels(pose, toPixels) {
    const [sin, cos] = [Math.sin(pose.yaw), Math.cos(pose.yaw)];
    return (forward, left) => toPixels(pose.x + forward * cos - left * sin, pose.y + forward * sin + left * cos);
  }

  // Draws hull and wheels of a vehicle from above. The hull of the reference is filled.
  function drawVehicle(context, vehicle, pose, toPixels, line, fill) {
    const at = vehicleToPixels(pose, toPixels);
    const { centre, half } = vehicle.hull;
    [context.lineWidth, context.globalAlpha] = [line.width, 1];
    context.setLineDash(line.dash);
    const corners = [[1, 1], [1, -1], [-1, -1], [-1, 1]];
    polygon(context, corners.map(([x, y]) => at(centre[0] + x * half[0], centre[1] + y * half[1])), fill, line.colour);
    for (const wheel of vehicle.wheels) {
      const angle = wheelAngle(vehicle, wheel, pose.steer);
      const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
      const [length, width] = [wheel.radius, WHEEL_HALF_WIDTH * wheel.radius];
      const corner = ([x, y]) => {
        const [forward, left] = [x * length, y * width];
        return at(wheel.x + forward * cos - left * sin, wheel.y + forward * sin + left * cos);
      };
      polygon(context, corners.map(corner), fill ? line.colour : undefined, line.colour);
    }
    // A mark at the front.
    const nose = centre[0] + half[0];
    polygon(context, [at(nose, 0), at(nose - 0.45, 0.3), at(nose - 0.45, -0.3)], line.colour);
    context.setLineDash([]);
  }

  // Draws an arrow for the force of each tyre on the car of a solver, in the axes of the wheel.
  function drawTyreForces(replay, context, solver, pose, toPixels) {
    const car = carOf(replay, solver);
    const at = vehicleToPixels(pose, toPixels);
    car.wheels.forEach((wheel, index) => {
      const { fx, fy } = wheelState(replay, solver, index);
      const angle = wheelAngle(car, wheel, pose.steer);
      const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
      const scale = FORCE_ARROW_M / wheel.static_load;
      const tip = at(wheel.x + (fx * cos - fy * sin) * scale, wheel.y + (fx * sin + fy * cos) * scale);
      arrow(context, at(wheel.x, wheel.y), tip, replay.style.force);
    });
  }

  // Draws a grid whose lines are a round number of metres apart, and the length of one square.
  function drawGrid(replay, context, width, height, centre, scale) {
    const spacing = [1, 2, 5, 10, 20, 50].find((step) => step * scale > 38) ?? 100;
    context.strokeStyle = replay.style.rule;
    context.lineWidth = 0.7;
    context.beginPath();
    const first = (value, half) => Math.ceil((value - half / scale) / spacing) * spacing;
    for (let x = first(centre.x, width / 2); x < centre.x + width / 2 / scale; x += spacing) {
      context.moveTo(width / 2 + (x - centre.x) * scale, 0);
      context.lineTo(width / 2 + (x - centre.x) * scale, height);
    }
    for (let y = first(centre.y, height / 2); y < centre.y + height / 2 / scale; y += spacing) {
      context.moveTo(0, height / 2 - (y - centre.y) * scale);
      context.lineTo(width, height / 2 - (y - centre.y) * scale);
    }
    context.stroke();
    const text = `grid ${spacing} m; arrow of ${FORCE_ARROW_M} m: tyre force equal to the static load`;
    write(replay, context, text, 8, height - 8);
  }

  // Draws the path of a solver up to the time of the replay.
  function drawPath(replay, context, solver, toPixels) {
    const { decoded } = replay.section;
    const { x, y } = replay.data.solvers[solver];
    const line = lineOf(replay, solver);
    const last = report.rowAt(decoded[0], replay.link.time);
    context.beginPath();
    for (let row = 0; row <= last; row++) {
      if (Number.isFinite(decoded[x][row])) context.lineTo(...toPixels(decoded[x][row], decoded[y][row]));
    }
    [context.strokeStyle, context.lineWidth, context.globalAlpha] = [line.colour, line.width * 0.7, 0.8];
    context.setLineDash(line.dash);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  // Draws the view from above, which follows the car of the reference.
  function drawTopView(replay) {
    const [context, width, height] = contextOf(replay.topCanvas);
    const { data, section, style } = replay;
    const scale = width / VIEW_WIDTHS_M[replay.viewWidth];
    const centre = poseOf(replay, replay.leader);
    if (!Number.isFinite(centre.x + centre.y)) return;
    const toPixels = (x, y) => [width / 2 + (x - centre.x) * scale, height / 2 - (y - centre.y) * scale];
    if (section.ground) {
      report.drawGround(context, section.ground, style, (x) => toPixels(x, 0)[0], (y) => toPixels(0, y)[1]);
    }
    drawGrid(replay, context, width, height, centre, scale);
    for (const [x, y] of section.cones) {
      const [left, top] = toPixels(x, y);
      polygon(context, [[left, top - 5], [left + 4, top + 4], [left - 4, top + 4]], style.ink);
    }
    const order = data.solvers.map((_, solver) => solver).filter((solver) => solver !== replay.leader);
    for (const solver of [...order, replay.leader]) {
      const pose = poseOf(replay, solver);
      if (!Number.isFinite(pose.x + pose.y + pose.yaw)) continue;
      const [line, fill] = [lineOf(replay, solver), solver === replay.leader ? style.panel : undefined];
      drawPath(replay, context, solver, toPixels);
      data.solvers[solver].units.forEach((columns, unit) => {
        const [x, y, yaw] = columns.map((column) => valueAt(replay, column));
        drawVehicle(context, data.units[unit], { x, y, yaw, steer: 0 }, toPixels, line, fill);
      });
      drawVehicle(context, carOf(replay, solver), pose, toPixels, line, fill);
    }
    drawTyreForces(replay, context, replay.leader, centre, toPixels);
  }

  // Returns the mean compression of all wheels (m), by which the body is lower than at rest.
  function meanCompression(replay, solver) {
    const { wheels } = carOf(replay, solver);
    const sum = wheels.reduce((total, _, wheel) => total + wheelState(replay, solver, wheel).compression, 0);
    return wheels.length > 0 ? sum / wheels.length : 0;
  }

  // Draws the hull of a solver from behind, rolled about the centre of mass, and the centre of mass.
  function drawBody(replay, context, solver, toPixels, isFilled) {
    const [car, line] = [carOf(replay, solver), lineOf(replay, solver)];
    const { roll } = poseOf(replay, solver);
    if (!Number.isFinite(roll)) return;
    const [sin, cos, height] = [Math.sin(roll), Math.cos(roll), car.height - meanCompression(replay, solver)];
    // A positive roll angle lowers the right side; the left side of the car is at the left of the picture.
    const at = (left, up) => toPixels(-left * cos + up * sin, height + up * cos + left * sin);
    const { centre, half } = car.hull;
    const corner = ([y, z]) => at(centre[1] + y * half[1], centre[2] + z * half[2]);
    const corners = [[1, 1], [1, -1], [-1, -1], [-1, 1]].map(corner);
    context.lineWidth = line.width;
    context.setLineDash(line.dash);
    polygon(context, corners, isFilled ? replay.style.panel : undefined, line.colour);
    context.setLineDash([]);
    const [x, y] = at(0, 0);
    context.beginPath();
    context.arc(x, y, 3, 0, 2 * Math.PI);
    context.fillStyle = line.colour;
    context.fill();
  }

  // Draws the wheels of an axle from behind, with arrows for load and lateral force. Axles are shifted sideways.
  function drawAxle(replay, context, wheels, toPixels, shift) {
    const { style } = replay;
    for (const { wheel, state } of wheels) {
      const [x, width] = [-wheel.y, WHEEL_HALF_WIDTH * wheel.radius];
      const corner = ([side, up]) => toPixels(x + side * width, up * wheel.radius);
      const corners = [[1, 0], [1, 2], [-1, 2], [-1, 0]].map(corner);
      polygon(context, corners, undefined, style.quiet);
      const scale = 0.5 / wheel.static_load;
      arrow(context, toPixels(x + shift, 0), toPixels(x + shift, state.load * scale), style.load);
      const height = 0.03 + 0.05 * shift;
      arrow(context, toPixels(x, height), toPixels(x - state.fy * scale, height), style.force);
    }
  }

  // Draws the view from behind: bodies of all solvers, and the wheel loads and anti-roll bars of the reference.
  function drawRearView(replay) {
    const [context, width, height] = contextOf(replay.rearCanvas);
    const { solvers } = replay.data;
    const car = carOf(replay, replay.leader);
    const carWidth = 2 * Math.max(...car.wheels.map((wheel) => Math.abs(wheel.y)), car.hull.half[1], 0.1);
    const ground = height - 78;
    const carTop = car.height + car.hull.centre[2] + car.hull.half[2];
    const scale = Math.min(width / (REAR_VIEW_WIDTHS * carWidth), (ground - 42) / carTop);
    const toPixels = (right, up) => [width / 2 + right * scale, ground - up * scale];
    solvers.forEach((_, solver) => solver !== replay.leader && drawBody(replay, context, solver, toPixels, false));
    drawBody(replay, context, replay.leader, toPixels, true);
    context.strokeStyle = replay.style.ink;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(0, ground);
    context.lineTo(width, ground);
    context.stroke();
    const wheels = car.wheels.map((wheel, index) => ({ wheel, state: wheelState(replay, replay.leader, index) }));
    const axles = [...new Set(car.wheels.map((wheel) => wheel.x))].sort((a, b) => b - a);
    axles.forEach((x, axle) => {
      const shift = 0.09 * (axle - (axles.length - 1) / 2);
      drawAxle(replay, context, wheels.filter(({ wheel }) => wheel.x === x), toPixels, shift);
    });
    drawRearTexts(replay, context, wheels, width, ground);
  }

  // Writes the loads of the wheels below the ground, and the forces of the anti-roll bars at the top.
  function drawRearTexts(replay, context, wheels, width, ground) {
    const lines = { left: 0, right: 0 };
    for (const { wheel, state } of wheels) {
      const side = wheel.y >= 0 ? "left" : "right";
      const load = report.formatNumber(state.load, 1);
      const left = side === "left" ? 8 : width - 8;
      write(replay, context, `${wheel.name} ${load} N`, left, ground + 16 + 13 * Math.min(lines[side], 3), side);
      lines[side] += 1;
    }
    replay.data.solvers[replay.leader].bars.forEach((column, bar) => {
      const force = report.formatNumber(valueAt(replay, column), 1);
      write(replay, context, `anti-roll bar ${bar + 1}: ${force} N up at the left wheel`, 8, 16 + 14 * bar);
    });
    write(replay, context, "from behind; arrows: load, lateral tyre force", 8, VIEW_HEIGHT_PX - 8);
  }

  // Writes time and state of the reference below the views.
  function writeReadout(replay) {
    const columns = replay.data.solvers[replay.leader];
    const text = (column, digits, unit) => `${report.formatNumber(valueAt(replay, column), 10 ** -digits)} ${unit}`;
    replay.clock.textContent = `${report.formatNumber(replay.link.time, 0.01)} s`;
    replay.readout.textContent = [
      `${replay.section.solvers[replay.leader].name}: speed ${text(columns.speed, 2, "m/s")}`,
      `lateral acceleration ${text(columns.ay, 2, "m/s²")}`,
      `longitudinal acceleration ${text(columns.ax, 2, "m/s²")}`,
      `yaw rate ${text(columns.yaw_rate, 2, "deg/s")}`,
      `steering ${text(columns.steer, 2, "deg")}`,
      `roll ${text(columns.roll, 2, "deg")}`,
    ].join(" · ");
  }

  // Draws the replay at the time of the section.
  function drawReplay(replay) {
    if (replay.topCanvas.clientWidth === 0) return;
    replay.style ??= report.readStyle();
    drawTopView(replay);
    drawRearView(replay);
    writeReadout(replay);
    replay.scrubber.value = replay.link.time;
  }

  // Starts or stops to play. At the end a replay starts again.
  function togglePlay(replay) {
    replay.isPlaying = !replay.isPlaying;
    replay.playButton.textContent = replay.isPlaying ? "⏸ pause" : "▶ play";
    if (!replay.isPlaying) return;
    const end = Number(replay.scrubber.max);
    if (replay.link.time >= end) replay.link.setTime(0);
    let previous = performance.now();
    const tick = () => {
      if (!replay.isPlaying) return;
      const now = performance.now();
      const time = replay.link.time + ((now - previous) / 1000) * SPEEDS[replay.speed.selectedIndex];
      previous = now;
      replay.link.setTime(Math.min(time, end));
      if (time >= end) togglePlay(replay);
      else setTimeout(tick, PICTURE_MS);
    };
    setTimeout(tick, PICTURE_MS);
  }

  // Adds a selection of `options` with the number `selected` at first.
  function addSelect(parent, title, options, selected) {
    const select = report.addElement(parent, "select");
    options.forEach((text) => report.addElement(select, "option", "", text));
    [select.selectedIndex, select.title] = [selected, title];
    select.setAttribute("aria-label", title);
    return select;
  }

  // Adds the controls: play, scrubber, clock, speed, width of the view, solver of the forces.
  function addControls(replay, place) {
    const controls = report.addElement(place, "div", "controls");
    replay.playButton = report.addElement(controls, "button", "", "▶ play");
    replay.playButton.type = "button";
    replay.playButton.addEventListener("click", () => togglePlay(replay));
    replay.scrubber = report.addElement(controls, "input");
    const times = replay.section.decoded[0];
    Object.assign(replay.scrubber, { type: "range", min: 0, max: times[times.length - 1], step: "any", value: 0 });
    replay.scrubber.setAttribute("aria-label", "Time of the replay");
    replay.scrubber.addEventListener("input", () => replay.link.setTime(Number(replay.scrubber.value)));
    replay.clock = report.addElement(controls, "span", "clock");
    replay.speed = addSelect(controls, "Speed", SPEEDS.map((speed) => `${speed} ×`), SPEEDS.indexOf(1));
    const widthTexts = VIEW_WIDTHS_M.map((width) => `${width} m wide`);
    const widths = addSelect(controls, "Width of the view", widthTexts, replay.viewWidth);
    widths.addEventListener("change", () => { replay.viewWidth = widths.selectedIndex; drawReplay(replay); });
    const names = replay.data.solvers.map((_, solver) => `forces of ${replay.section.solvers[solver].name}`);
    const leader = addSelect(controls, "Solver whose forces are drawn", names, replay.leader);
    leader.addEventListener("change", () => { replay.leader = leader.selectedIndex; drawReplay(replay); });
    replay.readout = report.addElement(place, "div", "readout");
  }

  // Creates the replay of a section in `place`.
  function createReplay(place, section, link) {
    const data = section.replay;
    const length = 2 * Math.max(...data.cars.map((car) => car.hull.half[0]));
    const viewWidth = Math.max(VIEW_WIDTHS_M.findIndex((width) => width > 4.5 * length), 0);
    const replay = { section, link, data, viewWidth, leader: data.reference, isPlaying: false };
    const views = report.addElement(place, "div", "views");
    replay.topCanvas = report.addElement(views, "canvas");
    replay.rearCanvas = report.addElement(views, "canvas");
    replay.topCanvas.setAttribute("aria-label", "View from above");
    replay.rearCanvas.setAttribute("aria-label", "View from behind");
    addControls(replay, place);
    replay.draw = () => drawReplay(replay);
    replay.restyle = () => { replay.style = undefined; drawReplay(replay); };
    replay.toggle = () => togglePlay(replay);
    replay.pose = () => poseOf(replay, replay.leader);
    return replay;
  }

  Object.assign(report, { createReplay });
})();
