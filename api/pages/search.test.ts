import { expect, it } from "vitest";
import type { Visit } from "./kit/visit.ts";
import { searchPage } from "./search.ts";

const wallet = (index: number) => ({ address: `0x${index}`, ensName: null });

/** The page of a search that finds so many wallets, as the endpoint limits them. */
async function pageOf(count: number): Promise<string> {
  const read = async (_route: unknown, { query }: { query: { limit: string } }) => {
    const wallets = Array.from({ length: count }, (_, index) => wallet(index));
    const others = { collections: [], tokens: [], transactions: [], orders: [], sales: [] };
    return { data: { ...others, wallets: wallets.slice(0, Number(query.limit)) } };
  };
  const visit = { chains: [1], read, parameter: () => "0x", now: new Date() };
  return (await searchPage(visit as unknown as Visit)).body.text;
}

it("counts what it shows, and says where there may be more", async () => {
  const about = async (count: number) =>
    /<p class="about">(.*?)<\/p>/.exec(await pageOf(count))?.[1]?.replaceAll(/<[^>]*>|&#\d+;/g, "");
  expect(await about(1)).toBe("1 match for 0x.");
  expect(await about(9)).toBe("9 matches for 0x.");
  expect(await about(10)).toBe("10 matches for 0x shown; at most 10 of each kind.");
  expect(await about(25)).toBe("10 matches for 0x shown; at most 10 of each kind.");
});
