import type { Page } from "playwright-core";
import { z } from "zod";
import { findBarriers, keepPicture, overflowOf } from "./browser.ts";

const Texts = z.array(z.string());

/** Text that its box cuts off without saying so; what scrolls by itself and what is for screen readers alone is none. */
export async function cutParts(page: Page): Promise<string[]> {
  return Texts.parse(await page.evaluate(findCut));
}

const findCut = `[...document.querySelectorAll("body *")].filter((one) => {
  if (one.closest(".unseen, svg, .skip, select, [hidden]") !== null || one.clientWidth <= 1) return false;
  const { overflowX, textOverflow } = getComputedStyle(one);
  return ["hidden", "clip"].includes(overflowX) && textOverflow !== "ellipsis" && one.textContent.trim() !== "" && one.scrollWidth > one.clientWidth + 1;
}).map((one) => one.outerHTML.slice(0, 160))`;

/** Boxes that hold more than they show, to be moved sideways; code is one of them anywhere. */
async function scrolledParts(page: Page): Promise<string[]> {
  return Texts.parse(await page.evaluate(findScrolled));
}

const findScrolled = `[...document.querySelectorAll("body *")].filter((one) => {
  if (one.closest(".unseen, pre, svg, [hidden]") !== null || one.clientWidth === 0) return false;
  return ["auto", "scroll"].includes(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 1;
}).map((one) => one.outerHTML.slice(0, 160))`;

/** What no page of ours has, whatever others wrote into its rows. */
export async function strangeParts(page: Page): Promise<string[]> {
  return Texts.parse(await page.evaluate(findStrange));
}

const findStrange = `(() => {
  const found = window.attacked === undefined ? [] : ["a script of theirs ran"];
  const add = (what, all) => { if (all.length > 0) found.push(what + " " + all[0].outerHTML.slice(0, 200)); };
  const all = [...document.querySelectorAll("*")];
  // What is for sale, for programs: data in the head, which no browser runs.
  const isData = ({ src, type, parentElement }) => src === "" && type === "application/ld+json" && parentElement === document.head;
  add("script", [...document.scripts].filter((one) => !isData(one) && !one.src.startsWith(location.origin + "/assets/")));
  const data = [...document.scripts].filter(isData);
  if (data.length > 1 || data.some(({ text }) => JSON.parse(text)["@type"] !== "Product")) found.push("data");
  add("handler", all.filter((one) => [...one.attributes].some(({ name }) => name.startsWith("on") || name === "style")));
  add("element", [...document.querySelectorAll("iframe, object, embed, base, meta[http-equiv], style, foreignObject")]);
  add("svg", [...document.querySelectorAll("svg")].filter((one) => one.closest(".plot, .spark, .share, .split") === null));
  add("link", [...document.links].filter(({ protocol }) => !/^https?:$/.test(protocol)));
  add("form", [...document.forms].filter(({ action }) => !action.startsWith(location.origin)));
  add("image", [...document.images].filter(({ src, referrerPolicy }) => referrerPolicy !== "no-referrer" || !/^https?:/.test(src)));
  if (document.title.length > 200) found.push("title");
  if (document.querySelectorAll("main").length !== 1) found.push("main");
  if (document.querySelectorAll("footer").length !== 1) found.push("footer");
  const tall = [...document.querySelectorAll("tbody tr, .card")].filter((one) => one.getBoundingClientRect().height > 900);
  add("tall row", tall);
  return found;
})()`;

const phoneWidths = [320, 390];

/**
 * What is wrong with a page on a phone, at each width: it is wider than its window, or holds what is cut off, has to be
 * moved sideways, is too small to touch, or is a barrier. The window is as it was afterwards.
 */
export async function phoneFaults(page: Page, name: string): Promise<unknown[]> {
  const before = page.viewportSize();
  const faults: unknown[] = [];
  for (const width of phoneWidths) {
    await page.setViewportSize({ width, height: 844 });
    const over = await overflowOf(page);
    const found = [
      ...(over > 0 ? [`${over} px wider than its window`] : []),
      ...(await cutParts(page)),
      ...(await scrolledParts(page)),
      ...(await findBarriers(page)),
      ...(await findBarriers(page, ["target-size"])),
    ];
    faults.push(...found.map((what) => [`${name} at ${width} px`, what]));
    await keepPicture(page, `${name}-${width}`);
  }
  if (before !== null) await page.setViewportSize(before);
  return faults;
}

/** Elements that move although their visitor asked for less motion. */
export async function movingParts(page: Page): Promise<string[]> {
  return Texts.parse(await page.evaluate(findMoving));
}

const findMoving = `[...document.querySelectorAll("body *")].filter((one) => {
  const { animationName, transitionDuration, scrollBehavior } = getComputedStyle(one);
  return animationName !== "none" || transitionDuration.split(", ").some((one) => one !== "0s") || scrollBehavior === "smooth";
}).map((one) => one.outerHTML.slice(0, 160))`;

/**
 * What audits of Lighthouse find that need no profile: what blocks the first paint, elements and bytes, pictures without a size,
 * what a page says of itself.
 */
export async function auditFaults(page: Page): Promise<string[]> {
  return Texts.parse(await page.evaluate(findAuditFaults));
}

/** As its audits of the size of a document and of what is transferred, beside pictures, warn. */
const most = { elements: 1_400, bytes: 300_000, sheets: 1 };

const findAuditFaults = `[
  ...[...document.querySelectorAll("head script[src]")]
    .filter(({ async, defer, type }) => !async && !defer && type !== "module")
    .map(({ src }) => "blocks the first paint: " + src),
  ...[...document.querySelectorAll("link[rel=stylesheet]")]
    .slice(${most.sheets}).map(({ href }) => "blocks the first paint: " + href),
  ...[...document.querySelectorAll("img")]
    .filter((one) => !(one.hasAttribute("width") && one.hasAttribute("height")) && getComputedStyle(one).aspectRatio === "auto")
    .map((one) => "has no size: " + one.outerHTML.slice(0, 160)),
  ...["description", "viewport"].filter((name) => !document.querySelector("meta[name=" + name + "]")?.content)
    .map((name) => "has no " + name),
  ...[document.querySelectorAll("*").length].filter((count) => count > ${most.elements})
    .map((count) => "has " + count + " elements"),
  ...[performance.getEntriesByType("navigation"), performance.getEntriesByType("resource")].flat()
    .filter(({ initiatorType }) => ["navigation", "script", "link", "css", "other"].includes(initiatorType))
    .reduce(([sum], { encodedBodySize }) => [sum + encodedBodySize], [0])
    .filter((bytes) => bytes > ${most.bytes}).map((bytes) => "takes " + bytes + " bytes"),
]`;

/**
 * Goes through a page by the Tab key. Returns the controls that it does not reach, those that are reached without being
 * seen, and those that do not show that they have the focus.
 */
export async function keyboardFaults(page: Page): Promise<string[]> {
  const count = z.number().parse(await page.evaluate(beginKeyboard));
  const faults: string[] = [];
  for (let step = 0; step < count + ownControls; step += 1) {
    await page.keyboard.press("Tab");
    const fault = z
      .string()
      .nullable()
      .parse(await page.evaluate(lookAtFocus));
    if (fault === null) break;
    if (fault !== "") faults.push(fault);
  }
  return [
    ...faults,
    ...Texts.parse(
      await page.evaluate(
        "[...window.unreached].map((one) => 'not reached: ' + one.outerHTML.slice(0, 160))",
      ),
    ),
  ];
}

/** Stops that a browser adds by itself, within a video. */
const ownControls = 10;

const beginKeyboard = `(() => {
  const controls = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, video[controls], [tabindex='0']")];
  window.unreached = new Set(controls.filter((one) => one.checkVisibility({ visibilityProperty: true })));
  document.activeElement?.blur();
  return window.unreached.size;
})()`;

const lookAtFocus = `(() => {
  const one = document.activeElement;
  if (one === null || one === document.body) return window.unreached.size === 0 ? null : "the focus is lost";
  // A video's own controls show their focus themselves.
  if (!window.unreached.delete(one)) return window.unreached.size === 0 ? null : one.matches("video") ? "" : "again: " + one.outerHTML.slice(0, 160);
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
  const { width, height, top, bottom } = one.getBoundingClientRect();
  const where = one.outerHTML.slice(0, 160);
  if ((outlineStyle === "none" || outlineWidth === "0px") && boxShadow === "none") return "no focus ring: " + where;
  if (width === 0 || height === 0 || bottom < 0 || top > innerHeight) return "not in sight: " + where;
  return "";
})()`;
