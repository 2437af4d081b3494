import { describe, expect, it } from "vitest";
import { gatewayUrl } from "../domain/metadata/location.ts";

const cid = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG";
const link = (path: string, gateway = "https://ipfs.io") => gatewayUrl(gateway, path)?.href ?? null;

describe("a link to a gateway", () => {
  it.each([
    // Case 18.
    ["Ape #1.png", "Ape%20%231.png"],
    // Its kind.
    ["Ape #1", "Ape%20%231"],
    ["Ape%20%231.png", "Ape%20%231.png"],
    ["100% Ape.png", "100%25%20Ape.png"],
    ["50%25.png", "50%25.png"],
    ["Who?.png", "Who%3F.png"],
    ["Who?", "Who%3F"],
    ["a?b#c.png", "a%3Fb%23c.png"],
    ["Äpfel/猿.png", "%C3%84pfel/%E7%8C%BF.png"],
    ["1.png?v2", "1.png?v2"],
    ["1.png?ext=.png", "1.png?ext=.png"],
    ["?filename=1.json", "?filename=1.json"],
    ["index.html?seed=1#x", "index.html?seed=1#x"],
    ["movie.mp4#t=0.1", "movie.mp4#t=0.1"],
    ["icons.svg#1.svg", "icons.svg%231.svg"],
    ["St. Ape #1.png", "St.%20Ape%20%231.png"],
  ])("keeps the name that people wrote: %s", (name, written) => {
    expect(link(`ipfs/${cid}/${name}`)).toBe(`https://ipfs.io/ipfs/${cid}/${written}`);
  });

  it("is below whatever the gateway's address is", () => {
    for (const gateway of [
      "https://g.example/x",
      "https://g.example/x/",
      "https://g.example/x/ipfs/",
    ]) {
      expect(link(`ipfs/${cid}`, gateway)).toBe(`https://g.example/x/ipfs/${cid}`);
    }
  });

  it.each(["ipfs/../api", "ipfs/%2e%2e/api", "ipfs/x/../../api", "ipfs/..\\api"])(
    "never leads elsewhere: %s",
    (path) => {
      expect(link(path)).toBeNull();
    },
  );
});
