import { expect, it } from "vitest";
import { tokenMedia } from "./item-grid.ts";

it.each([null, "data:image/svg+xml,<svg/>", "//elsewhere"])(
  "says so where a token has no image that can be shown: %s",
  (imageUrl) => {
    const { text } = tokenMedia({ imageUrl }, "Punk 1");
    expect(text).toContain('<span class="placeholder">No image</span>');
    expect(text).not.toContain("<img");
  },
);

it("shows an image, and a video in its place", () => {
  const imageUrl = "https://images.example.test/1.png";
  expect(tokenMedia({ imageUrl }, "Punk 1").text).toContain("<img");
  const animationUrl = "https://images.example.test/1.mp4";
  const { text } = tokenMedia({ imageUrl: null, animationUrl }, "Punk 1");
  expect(text).toContain("<video");
  expect(text).not.toContain("No image");
});
