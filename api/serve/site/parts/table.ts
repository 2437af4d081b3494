import { type Html, html } from "#api/serve/html/html.ts";

type Cell = Html | string | number | null | false | undefined;

export type Column<Row> = {
  readonly head: string | Html;
  readonly cell: (row: Row, index: number) => Cell;
  /** Right-aligned figures. */
  readonly isNumber?: boolean;
  /** Left out on narrow screens, where rows show what matters. */
  readonly isMinor?: boolean;
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
  /** Text instead of an empty table. */
  readonly empty?: string | Html;
  /** `id` of the table's body. */
  readonly id?: string;
};

/** Rows as a table that scrolls by itself where the screen is narrow. */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { caption, isCaptionShown, keyOf, contractOf, empty = "Nothing yet.", id }: Options<Row>,
): Html {
  if (rows.length === 0 && id === undefined) return html`<p class="empty">${empty}</p>`;
  const kinds = columns.map(attributesOf);
  const cells = (row: Row, index: number) =>
    columns.map(({ isHead, cell }, place) => {
      const [attributes, content] = [kinds[place], cell(row, index)];
      if (isHead === true) return html`<th scope="row"${attributes}>${content}</th>`;
      return html`<td${attributes}>${content}</td>`;
    });
  const line = (row: Row, index: number) => {
    const contract = contractOf?.(row) ?? null;
    return html`<tr${keyOf && html` data-key="${keyOf(row)}"`}${contract !== null && html` data-contract="${contract}"`}>${cells(row, index)}</tr>`;
  };
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${caption}"><table>
<caption${!isCaptionShown && html` class="unseen"`}>${caption}</caption>
<thead><tr>${columns.map(({ head, isSorted }, place) => html`<th scope="col"${kinds[place]}${isSorted === true && html` aria-sort="descending"`}>${head}</th>`)}</tr></thead>
<tbody${id !== undefined && html` id="${id}"`}>${rows.map(line)}</tbody>
</table></div>${rows.length === 0 && html`<p class="empty">${empty}</p>`}`;
}

type Kind = Pick<Column<never>, "isNumber" | "isMinor" | "name">;

function attributesOf({ isNumber, isMinor, name }: Kind): Html {
  const classes = [isNumber === true && "number", isMinor === true && "minor"].filter(Boolean);
  return html`${classes.length > 0 && html` class="${classes.join(" ")}"`}${name !== undefined && html` data-column="${name}"`}`;
}
