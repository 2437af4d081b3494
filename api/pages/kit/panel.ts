import { type Html, html } from "./html.ts";
import { formatCount } from "./number.ts";

type Panel = {
  readonly id: string;
  readonly title: string | Html;
  readonly body: Html | readonly Html[];
  /** Beside the title. */
  readonly aside?: Html | false | undefined;
  readonly about?: string | Html;
};

/** A titled part of a page. */
export function panel({ id, title, body, aside, about }: Panel): Html {
  return html`<section class="panel" aria-labelledby="${id}">
<div class="panel-head"><h2 id="${id}">${title}</h2>${aside}</div>
${about !== undefined && html`<p class="about">${about}</p>`}
${body}
</section>`;
}

type Figure = {
  readonly label: string;
  readonly value: Html | string;
  readonly note?: Html | false;
};

/** Figures of a head, each with its name. */
export function figures(all: readonly Figure[]): Html {
  return html`<dl class="figures">${all.map(
    ({ label, value, note }) =>
      html`<div><dt>${label}</dt><dd>${value}</dd>${note && html`<dd class="note">${note}</dd>`}</div>`,
  )}</dl>`;
}

/** Names and values of a row's details. */
export function details(
  all: readonly (readonly [name: string, value: Html | string] | false)[],
): Html {
  const shown = all.filter((one) => one !== false);
  return html`<dl class="details">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

type Tab = { readonly href: string; readonly text: string; readonly isCurrent: boolean };

/** Links between the views of one subject. */
export function tabs(label: string, all: readonly Tab[]): Html {
  return html`<nav class="tabs" aria-label="${label}">${all.map(
    ({ href, text, isCurrent }) =>
      html`<a href="${href}"${isCurrent && html` aria-current="page"`}>${text}</a>`,
  )}</nav>`;
}

/** The way to the next rows. */
export function nextPage(href: string | null): Html | false {
  return (
    href !== null &&
    html`<p class="next"><a class="button" href="${href}" rel="next">Next page</a></p>`
  );
}

type Cell = Html | string | number | null | false | undefined;

export type TableColumn<Row> = {
  readonly head: string | Html;
  readonly cell: (row: Row, index: number) => Cell;
  /** Right-aligned figures. */
  readonly isNumber?: boolean;
  /** Left out on narrow screens, where rows show what matters. */
  readonly isMinor?: boolean;
  /**
   * Where it is on a phone, on which a row is two lines: at the ends of the first, or in the second. By default the head of
   * the row, its first figure, and all others.
   */
  readonly line?: "start" | "end" | "below";
  /** Says by itself what it is: below it needs no name. */
  readonly isPlain?: boolean;
  /** Its name below, where the head is more than a text. */
  readonly label?: string;
  /** Names its row. */
  readonly isHead?: boolean;
  /** The rows are in its order, from the highest down. */
  readonly isSorted?: boolean;
  /** What it holds, for rows that arrive while the page is open. */
  readonly name?: string;
};

type Options<Row> = {
  /** Read out before the table. */
  readonly caption: string;
  readonly isCaptionShown?: boolean;
  /** Tells a row from every other, for live pages. */
  readonly keyOf?: (row: Row) => string;
  /** The contract that a row is about, likewise. */
  readonly contractOf?: (row: Row) => string | null;
  /** What rows of one thing have in common, likewise. */
  readonly dealOf?: (row: Row) => string | null;
  /** Text instead of an empty table. */
  readonly empty?: string | Html;
  /** `id` of the table's body. */
  readonly id?: string;
};

/** Rows as a table; on a phone each row is two lines. */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly TableColumn<Row>[],
  { caption, isCaptionShown, keyOf, contractOf, dealOf, empty = "Nothing yet.", id }: Options<Row>,
): Html {
  if (rows.length === 0 && id === undefined) return html`<p class="empty">${empty}</p>`;
  const lines = linesOf(columns);
  const kinds = columns.map((column, place) => attributesOf(column, lines[place]));
  const labels = columns.map((column, place) => labelOf(column, lines[place]));
  const cells = (row: Row, index: number) =>
    columns.map(({ isHead, cell }, place) => {
      const [attributes, label, content] = [kinds[place], labels[place], cell(row, index)];
      if (isHead === true) return html`<th scope="row"${attributes}${label}>${content}</th>`;
      return html`<td${attributes}${label}>${content}</td>`;
    });
  const line = (row: Row, index: number) => {
    const contract = contractOf?.(row) ?? null;
    const deal = dealOf?.(row) ?? null;
    return html`<tr${keyOf && html` data-key="${keyOf(row)}"`}${contract !== null && html` data-contract="${contract}"`}${deal !== null && html` data-deal="${deal}"`}>${cells(row, index)}</tr>`;
  };
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${caption}"><table>
<caption${!isCaptionShown && html` class="unseen"`}>${caption}</caption>
<thead><tr>${columns.map(({ head, isSorted }, place) => html`<th scope="col"${kinds[place]}${isSorted === true && html` aria-sort="descending"`}>${head}</th>`)}</tr></thead>
<tbody${id !== undefined && html` id="${id}"`}>${rows.map(line)}</tbody>
</table></div>${rows.length === 0 && html`<p class="empty">${empty}</p>`}`;
}

type Kind = Pick<
  TableColumn<never>,
  "head" | "isHead" | "isNumber" | "isMinor" | "isPlain" | "label" | "line" | "name"
>;

type PhoneLine = NonNullable<Kind["line"]>;

/** Where each column is on a phone: one at each end of the first line, the others in the second. */
function linesOf(columns: readonly Kind[]): PhoneLine[] {
  const named = (line: PhoneLine) => columns.findIndex((column) => column.line === line);
  const free = (test: (column: Kind) => boolean | undefined) =>
    columns.findIndex((column) => column.line === undefined && test(column));
  const first = (line: PhoneLine, test: (column: Kind) => boolean | undefined) =>
    named(line) === -1 ? free(test) : named(line);
  const start = first("start", ({ isHead }) => isHead);
  const end = first("end", ({ isNumber, isMinor }) => isNumber === true && isMinor !== true);
  const ends = new Map<number, PhoneLine>([
    [end, "end"],
    [start, "start"],
  ]);
  return columns.map((_, place) => ends.get(place) ?? "below");
}

function labelOf({ head, isPlain, label, isMinor }: Kind, line: PhoneLine | undefined) {
  const text = label ?? (typeof head === "string" ? head : "");
  const isNamed = line === "below" && isPlain !== true && isMinor !== true && text !== "";
  return isNamed && html` data-label="${text}"`;
}

function attributesOf({ isNumber, isMinor, name }: Kind, line: PhoneLine = "below"): Html {
  const classes = [
    line !== "below" && line,
    isNumber === true && "number",
    isMinor === true && "minor",
  ].filter(Boolean);
  return html`${classes.length > 0 && html` class="${classes.join(" ")}"`}${name !== undefined && html` data-column="${name}"`}`;
}

type Cut = {
  /** What is shown. */
  readonly which: "first" | "newest";
  readonly shown: number;
  readonly total: number | undefined;
  readonly noun?: string;
};

/** Below a list of which the page shows a part: how much of it. */
export function cutNote({ which, shown, total = shown, noun }: Cut): Html | false {
  if (total <= shown) return false;
  const all = noun === undefined ? formatCount(total) : `${formatCount(total)} ${noun}`;
  return html`<p class="about">The ${which} ${formatCount(shown)} of ${all}.</p>`;
}
