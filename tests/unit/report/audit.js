const paint = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
function rgba(colour) {  // any syntax of CSS -> [r, g, b, a]
  paint.clearRect(0, 0, 1, 1); paint.fillStyle = "#000"; paint.fillStyle = colour;
  paint.fillRect(0, 0, 1, 1);
  const d = paint.getImageData(0, 0, 1, 1).data;
  return [d[0], d[1], d[2], d[3] / 255];
}
function over(top, below, opacity = 1) {
  const a = top[3] * opacity;
  return [0, 1, 2].map(i => a * top[i] + (1 - a) * below[i]).concat(1);
}
function luminance(c) {  // WCAG 2.2
  const [r, g, b] = c.slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function behind(element) {
  if (!element) return [255, 255, 255, 1];
  const style = getComputedStyle(element);
  return over(rgba(style.backgroundColor), behind(element.parentElement));
}
function faded(element) {
  return element ? getComputedStyle(element).opacity * faded(element.parentElement) : 1;
}
function audit() {
  const width = document.documentElement.clientWidth, found = {wide: [], pale: [], dead: []};
  found.width = width; found.texts = 0;
  const seen = new Set();
  function overflow() {
    if (document.documentElement.scrollWidth <= width) return;
    for (const e of document.querySelectorAll("body *")) {
      if (e.getBoundingClientRect().right > width + 1 && !e.closest(PAPER ? "svg" : ".scroll, svg")) {
        found.wide.push(e.tagName + "." + e.className + "#" + e.id);
      }
    }
    found.wide.push("page: " + document.documentElement.scrollWidth);
  }
  overflow();
  document.querySelectorAll("details").forEach(e => { e.open = true; });
  overflow();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const e = node.parentElement, style = getComputedStyle(e);
    if (!node.data.trim() || e.closest("script, style, title")) continue;
    const range = document.createRange(); range.selectNode(node);
    if (!range.getClientRects().length || style.visibility == "hidden") continue;
    if (e.closest(".skip")) continue;  // seen when it has the focus
    const below = behind(e), ink = rgba(e.closest("svg") ? style.fill : style.color);
    const [a, b] = [over(ink, below, faded(e)), below].map(luminance);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize), bold = style.fontWeight >= 600;
    const least = size >= 24 || (bold && size >= 18.66) ? 3 : 4.5;
    found.texts += 1;
    const key = e.tagName + "." + (e.getAttribute("class") || "") + " " + ratio.toFixed(2);
    if (ratio < least && !seen.has(key)) {
      seen.add(key); found.pale.push(key + " " + node.data.trim().slice(0, 40));
    }
  }
  for (const a of document.querySelectorAll('a[href^="#"]')) {
    if (!document.getElementById(decodeURIComponent(a.hash.slice(1)))) found.dead.push(a.hash);
  }
  parent.postMessage(JSON.stringify(found), "*");
}
addEventListener("load", audit);
