import { expect, it } from "vitest";
import { chooseUnits } from "#api/orders/choose-units.ts";
import { randomFrom } from "#test/simulation/random.ts";

type Listings = Parameters<typeof chooseUnits>[0];
type Listing = Listings[number];

function someBook(seed: number): { listings: Listing[]; count: bigint; budgetWei: bigint | null } {
  const random = randomFrom(seed);
  const listings = Array.from({ length: random.int(0, 14) }, (_, index) => ({
    askId: `${index}`,
    maker: `maker ${random.int(1, 4)}`,
    contract: "one",
    tokenId: BigInt(random.int(1, 6)),
    unitPriceWei: BigInt(random.int(random.chance(0.1) ? 0 : 1, 9)),
    fillable: BigInt(random.chance(0.5) ? 1 : random.int(1, 6)),
    isFilledWhole: random.chance(0.3),
  }));
  listings.sort((a, b) => Number(a.unitPriceWei - b.unitPriceWei));
  const budgetWei = random.chance(0.3) ? null : BigInt(random.int(0, 40));
  return { listings, count: BigInt(random.int(1, 12)), budgetWei };
}

/** Unit by unit: the cheapest that may still be bought, until the count or the budget is used up. */
function unitByUnit({ listings, count, budgetWei }: ReturnType<typeof someBook>) {
  const bought: string[] = [];
  const sellers: string[] = [];
  let leftWei = budgetWei ?? 10n ** 9n;
  const wanted = Number(count);
  for (const one of listings) {
    const seller = JSON.stringify([one.maker, `${one.tokenId}`]);
    if (sellers.includes(seller)) continue;
    const units: string[] = [];
    const canPay = () => one.unitPriceWei * BigInt(units.length + 1) <= leftWei;
    while (units.length < one.fillable && bought.length + units.length < wanted && canPay())
      units.push(one.askId);
    const isRefused = one.isFilledWhole && units.length < one.fillable;
    if (units.length === 0 || isRefused) continue;
    leftWei -= one.unitPriceWei * BigInt(units.length);
    bought.push(...units);
    sellers.push(seller);
  }
  return bought;
}

it("the cheapest units within count and budget are chosen, in any book", () => {
  let most = 0;
  for (let seed = 1; seed <= 3_000; seed += 1) {
    const book = someBook(seed);
    const chosen = chooseUnits(book.listings, book);
    most = Math.max(most, chosen.length);
    const units = chosen.flatMap((one) => Array<string>(Number(one.units)).fill(one.askId));
    expect(units, `book ${seed}`).toEqual(unitByUnit(book));
    const costsWei = chosen.reduce((sum, { priceWei }) => sum + priceWei, 0n);
    expect(costsWei <= (book.budgetWei ?? costsWei)).toBe(true);
  }
  expect(most).toBeGreaterThan(4);
});
