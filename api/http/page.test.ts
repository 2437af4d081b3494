import { expect, it } from "vitest";
import { nextLink } from "./page.ts";

it("links to the next page with the whole query", () => {
  const value = "what?&=#+ é";
  const query = new URLSearchParams({ chainId: "33139", per_page: "1", search: value });
  for (const text of [`${query}`, `${query}`.replace("%3F", "?")]) {
    const link = nextLink("https://api.test", `/v1/collections?${text}&page=2`, {
      next_cursor: "c",
    });
    const [, address = ""] = /^<([^>]+)>; rel="next"$/.exec(link ?? "") ?? [];
    expect(Object.fromEntries(new URL(address).searchParams)).toEqual({
      ...Object.fromEntries(query),
      cursor: "c",
    });
  }
});
