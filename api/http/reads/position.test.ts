import { describe, expect, it } from "vitest";
import { addressWith } from "./position.ts";

const known = ["sort", "traits", "q"];

describe("an address with the parameters of its page only", () => {
  it.each([
    ["/a", "/a"],
    ["/a?utm_source=x&fbclid=1", "/a"],
    ["/a?sort=x&utm_source=y&q=", "/a?sort=x&q="],
    ["/a?traits[Hat]=x&trait[Hat]=y", "/a?traits[Hat]=x"],
    ["/a?traits%5BHat%5D=a%26b&min_position=4", "/a?traits%5BHat%5D=a%26b"],
    ["/a?s%6Frt=x", "/a?s%6Frt=x"],
    ["/a?&&=&%", "/a"],
  ])("%s is %s", (originalUrl, kept) => expect(addressWith({ originalUrl }, known)).toBe(kept));
});
