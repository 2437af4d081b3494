import { expect, it } from "vitest";
import { tokenMedia } from "./media.ts";

const token = { chainId: 1, contract: `0x${"a".repeat(40)}`, tokenId: "7" };
const imageUrl = "https://images.example.test/1.png";
const still = { animationUrl: null, contentType: null };

it("shows a picture of this site in each case, and says where it is drawn", () => {
  const drawn = tokenMedia({ ...token, imageUrl: null }, still, "Punk 7").text;
  expect(drawn).toContain("this one is drawn from its id");
  const shown = tokenMedia({ ...token, imageUrl }, still, "Punk 7").text;
  expect(shown).not.toContain("drawn");
  for (const text of [drawn, shown]) {
    expect(text).toMatch(/<img src="\/pictures\/[^"]+\/7\/384/);
    expect(text).not.toContain("images.example.test");
  }
});

it.each([
  ["a video", "https://images.example.test/1.mp4", null, '<video src="https://images'],
  ["a video by its type", "/v1/x/animation", "video/webm", '<video src="/v1/x/animation'],
  ["a sound", "https://images.example.test/1.mp3", null, '<audio src="https://images'],
  ["a model", "https://images.example.test/1.glb", null, '<a href="https://images'],
])("loads nothing else before it is asked for: %s", (_what, animationUrl, contentType, start) => {
  const { text } = tokenMedia({ ...token, imageUrl }, { animationUrl, contentType }, "Punk 7");
  expect(text).toContain(start);
  const loading = [...text.matchAll(/<(?:video|audio) [^>]*>/g)].map(([tag]) => tag);
  for (const tag of loading) expect(tag).toContain('preload="none"');
});

it.each(["javascript:alert(1)", "data:text/html,x", "//elsewhere"])(
  "leads nowhere but to the web: %s",
  (animationUrl) => {
    const { text } = tokenMedia({ ...token, imageUrl }, { ...still, animationUrl }, "Punk 7");
    expect(text).not.toContain(animationUrl);
  },
);
