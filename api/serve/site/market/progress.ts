import { chainNames } from "#chains/index.ts";
import { formatProvedShare } from "#projections/log/chain-state.ts";
import { type Html, html } from "#api/serve/html/html.ts";
import { status } from "#api/serve/v1/status.ts";
import type { Visit } from "../page/visit.ts";
import { formatCount } from "../parts/number.ts";

/** What is not current yet, in words, while an installation is empty or catching up; nothing when it is current. */
export async function progressNote({ chainId, read }: Visit): Promise<Html | false> {
  const { data } = await read(status, {});
  const chain = data.chains.find((one) => one.chainId === chainId);
  const name = chainNames[chainId];
  if (data.logPosition === null || data.logPosition === 0) {
    return note(
      `${name} is being read for the first time`,
      "Blocks are fetched from the node and nothing is derived from them yet. Collections appear here as soon as the first events are recorded.",
    );
  }
  if (chain === undefined || chain.indexed === null) {
    return note(
      `${name} is not being read now`,
      `What was recorded before is shown${chain?.recorded ? `, up to block ${formatCount(chain.recorded.number)}` : ""}. The indexer starts, or waits for its node.`,
    );
  }
  const lag = chain.lagBlocks ?? 0;
  const behind = data.projections.reduce((most, one) => Math.max(most, one.lag), 0);
  if (lag > maxLagBlocks) {
    return note(
      `${name} is catching up: ${formatCount(lag)} blocks to go`,
      `Shown is the market as of block ${formatCount(chain.indexed.number)}. Nothing has to be done; figures grow until the newest block is reached.`,
    );
  }
  if (behind > maxLagFacts) {
    return note(
      `Figures are being derived: ${formatCount(behind)} events to go`,
      "All blocks are recorded; the pages follow in a moment.",
    );
  }
  return false;
}

/** How far down the chain's history is proved, for those who ask why figures can be believed. */
export async function proofNote({ chainId, read }: Visit): Promise<Html | false> {
  const { data } = await read(status, {});
  const history = data.chains.find((one) => one.chainId === chainId)?.history ?? null;
  if (history === null || history.share === null) return false;
  const { share, provedFrom, provedTo } = history;
  const part = share === 1 ? "All" : formatProvedShare(share);
  return html`<p class="note">${part} of the recorded history is proved by the chain's own block headers: blocks ${formatCount(provedFrom)} to ${formatCount(provedTo)}, each one's logs against the root in its header. <a href="/v1/status">Details</a></p>`;
}

/** Blocks, and events, that are not worth mentioning: they pass within seconds. */
const maxLagBlocks = 50;
const maxLagFacts = 5_000;

const note = (title: string, text: string): Html =>
  html`<div class="notice" role="status"><strong>${title}</strong><p>${text} <a href="/v1/status">Details</a></p></div>`;
