import { chainNames } from "#chains/index.ts";
import { html } from "#api/serve/html/html.ts";
import { listSales } from "#api/serve/v1/sales/list.ts";
import { Refused } from "../page/reader.ts";
import type { PageContent, Visit } from "../page/visit.ts";
import { cutNote } from "../parts/cut-note.ts";
import { panel } from "../parts/panel.ts";
import { salesTable } from "../parts/sales-table.ts";
import { shortHex, shortId } from "../parts/text.ts";

/**
 * What is known of a contract that is not covered, or of a token of it: its sales. For who follows the link of a sale;
 * what was `refused` is refused where there are none.
 */
export async function uncoveredPage(visit: Visit, refused: unknown): Promise<PageContent> {
  if (!(refused instanceof Refused && refused.status === 404)) throw refused;
  const { chainId, key, read, now } = visit;
  const [contract, tokenId] = [key("collection"), key("tokenId")];
  if (!/^0x[0-9a-f]{40}$/i.test(contract)) throw refused;
  const own = { collection: contract, ...(tokenId !== "" && { token_id: tokenId }) };
  const query = { chainId: String(chainId), ...own, per_page: "50" };
  const { data, meta } = await read(listSales, { query });
  const isCovered = data[0] === undefined || data[0].collection.slug !== null;
  if (isCovered) throw refused;
  const name = tokenId === "" ? shortHex(contract) : `#${shortId(tokenId)}`;
  const body = html`<header class="token-head"><p class="facts"><span>${chainNames[chainId]}</span><span title="${contract}">${shortHex(contract)}</span></p>
<h1>${name}</h1>
<p class="description">This contract is not covered here: owners, names, pictures and listings of its tokens are not followed. Its sales are.</p></header>
${panel({
  id: "sales",
  title: "Sales",
  body: html`${salesTable(data, { now, caption: "Sales, newest first", without: ["collection"] })}${cutNote({ which: "newest", shown: data.length, total: meta?.total })}`,
})}`;
  return { title: `${name} · not covered`, body };
}
