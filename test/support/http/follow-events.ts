import { setTimeout as delay } from "node:timers/promises";

type Page = { data: { id: string }[]; meta: { next: string; has_more: boolean } };

/** Reads a chain's events from its first on, page by page, until the feed has no more and the caller says so. */
export async function followEvents(
  ask: (path: string) => Promise<Response>,
  chainId: number,
  isOver: () => boolean,
): Promise<string[]> {
  const ids: string[] = [];
  let after = "0-0";
  for (;;) {
    const wasOver = isOver();
    const response = await ask(`/v1/events?chainId=${chainId}&after=${after}&per_page=100`);
    if (response.status === 503) continue;
    const { data, meta } = (await response.json()) as Page;
    ids.push(...data.map(({ id }) => id));
    after = meta.next;
    if (!meta.has_more && wasOver) return ids;
    if (!meta.has_more) await delay(50);
  }
}
