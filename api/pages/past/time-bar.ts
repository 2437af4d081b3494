import type { z } from "zod";
import type { PointRejection, pointMeta } from "#api/v1/point.ts";
import { type Html, html } from "../kit/html.ts";
import { pageLink } from "../kit/links.ts";
import { exactTime, formatCount } from "../kit/number.ts";
import { tabs } from "../kit/panel.ts";
import { plainText } from "../kit/text.ts";
import { RefusedRead, type Visit } from "../kit/visit.ts";

export type PastPoint = z.output<typeof pointMeta>;

const withoutZone = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;

/** `at` of the API as a page is asked for it; "": now. A form sends a block, or a time without a zone, which is of UTC. */
export function askedMoment({ parameter }: Visit): string {
  const at = parameter("block").trim() || parameter("at").trim();
  return withoutZone.test(at) ? `${at}Z` : at;
}

/** A block and its time, in words. */
function inWords({ block, time, isFinal, clock }: PastPoint): Html {
  const when = time === null ? "in which nothing indexed happened" : exactTime(time);
  const orders = clock !== undefined && clock !== time && ` Orders: at ${exactTime(clock)}.`;
  return html`As of the end of block ${formatCount(block)}, ${when}; ${isFinal ? "final" : "not final, a reorg may still change it"}.${orders}`;
}

type TimeBar = {
  /** Parameters that stay. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** What the page shows; null: now, or nothing. */
  readonly point?: PastPoint | null;
  /** What it does not show of a moment. */
  readonly left?: string;
  /** A day can be stepped through. */
  readonly hasSteps?: boolean;
};

/** Asks for a page as it was, and says of which moment it is. A form and links: without scripts it is the same. */
export function timeBar(
  visit: Visit,
  { parameters = {}, point = null, left, hasSteps = false }: TimeBar,
): Html {
  const { path, chainId, now } = visit;
  const at = askedMoment(visit);
  const link = (moment: string) => pageLink(path, { chainId, ...parameters, at: moment });
  const steps = hasSteps && daySteps(timeOf(at, point) ?? now, now, at !== "", link);
  const form = html`<form method="get" action="${path}">
<input type="hidden" name="chainId" value="${chainId}">${Object.entries(parameters).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<label>Time, UTC <input type="datetime-local" name="at" step="1" value="${fieldOf(at, point)}"></label>
<label>or block <input name="block" inputmode="numeric" pattern="[0-9]{1,18}" size="12" value="${/^\d+$/.test(at) ? at : ""}"></label>
<button>Show</button>${at !== "" && html` <a href="${link("")}">Back to now</a>`}
</form>`;
  if (at === "")
    return html`<details class="time-bar"><summary>As of now: see an earlier time</summary>${form}${steps}</details>`;
  return html`<section class="notice time-bar" aria-label="Moment that is shown">
<strong role="status">${point === null ? "An earlier time" : inWords(point)}</strong>${left !== undefined && html`<p>${left}</p>`}
${form}${steps}</section>`;
}

/** The time that was named, else that of the block. */
function timeOf(at: string, point: PastPoint | null): Date | null {
  const text = /^\d{4}-\d{2}-\d{2}T/.test(at) && !Number.isNaN(Date.parse(at)) ? at : null;
  const time = text ?? point?.clock ?? point?.time ?? null;
  return time === null ? null : new Date(time);
}

const fieldOf = (at: string, point: PastPoint | null): string =>
  timeOf(at, point)?.toISOString().slice(0, 19) ?? "";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const isoOf = (time: number): string => new Date(time).toISOString().replace(".000Z", "Z");

/** An hour and a day earlier and later, and each hour of the day. */
function daySteps(time: Date, now: Date, isPast: boolean, link: (at: string) => string): Html {
  const shown = time.getTime();
  const day = Math.floor(shown / dayMs) * dayMs;
  const by = (text: string, ms: number) =>
    shown + ms < now.getTime() && html`<a href="${link(isoOf(shown + ms))}">${text}</a> `;
  const hours = Array.from({ length: 24 }, (_, hour) => day + hour * hourMs);
  const marks = hours
    .filter((hour) => hour < now.getTime())
    .map((hour) => ({
      href: link(isoOf(hour)),
      text: isoOf(hour).slice(11, 13),
      isCurrent: isPast && hour === Math.floor(shown / hourMs) * hourMs,
    }));
  return html`<p class="day-steps">${by("Day before", -dayMs)}${by("Hour before", -hourMs)}${by("Hour after", hourMs)}${by("Day after", dayMs)}</p>
${tabs(`Hours of ${isoOf(day).slice(0, 10)}`, marks)}`;
}

type PastView = { readonly body: Html; readonly point: PastPoint | null };

/** A view of a moment; where that is refused, why. `unknown`: what is said where the subject did not exist. */
export async function pastView(
  make: () => Promise<PastView>,
  unknown: string,
): Promise<PastView & { readonly status: number }> {
  try {
    return { ...(await make()), status: 200 };
  } catch (error) {
    if (!(error instanceof RefusedRead)) throw error;
    const { rejected } = error.rejection;
    const text = rejected === "not_found" ? unknown : refusals[rejected as PointCode];
    const body = html`<p class="empty" role="alert">${text ?? plainText(error.message, 300)}</p>`;
    return { body, point: null, status: error.status };
  }
}

type PointCode = PointRejection["rejected"];

/** For people; other codes as the API words them. */
const refusals: Partial<Record<PointCode, string>> = {
  block_unknown: "No event of a block with this hash is indexed here.",
  point_not_reached: "Blocks are not read up to this moment yet.",
  too_much_to_fold:
    "Too much happened since to tell it here: ask about a later moment, or of a part.",
};

const isRefusedFor = (error: unknown, code: PointCode): boolean =>
  error instanceof RefusedRead && error.rejection.rejected === code;

/** Whether a read was refused since not all of that moment is known. */
export const isNotCovered = (error: unknown): boolean => isRefusedFor(error, "point_not_covered");

/** A part of a page of a moment; null: the moment is known, and this of it cannot be told. */
export async function partThen<Part>(part: Promise<Part>): Promise<Part | null> {
  try {
    return await part;
  } catch (error) {
    if (isNotCovered(error) || isRefusedFor(error, "too_much_to_fold")) return null;
    throw error;
  }
}
