/** A table of a page: its rows with the texts of their cells. Amounts are the exact wei of the cell. */
export function tableOf(page: string, caption: string): { key: string; cells: string[] }[] {
  const start = page.search(new RegExp(`<caption[^>]*>${escapePattern(caption)}</caption>`));
  if (start < 0) throw new Error(`the page has no table ${caption}`);
  const body = page.slice(page.indexOf("<tbody", start), page.indexOf("</tbody>", start));
  return [...body.matchAll(/<tr([^>]*)>(.*?)<\/tr>/gs)].map(([, attributes = "", cells = ""]) => ({
    key: /data-key="([^"]*)"/.exec(attributes)?.[1] ?? "",
    cells: [...cells.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = ""]) => textOf(cell)),
  }));
}

function textOf(cell: string): string {
  const [, wei] = /<data class="amount" value="(\d+)"/.exec(cell) ?? [];
  return wei ?? decode(cell.replaceAll(/<[^>]*>/g, "")).trim();
}

export const decode = (text: string): string =>
  text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));

const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
