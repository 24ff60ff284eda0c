// Pixels of a canvas per pixel of the page. At least two keep texts and lines sharp in prints. The plotting library
// reads the number when it is loaded.
"use strict";

Object.defineProperty(window, "devicePixelRatio", { value: Math.max(2, Math.round(window.devicePixelRatio)) });
