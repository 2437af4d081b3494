import { expect, it } from "vitest";
import { html } from "../kit/html.ts";
import { developerLayout, type SignedIn } from "./layout.ts";

it.each([
  ["signed in", { formToken: "token" } as SignedIn],
  ["signed out", null],
])("leads back to the market: %s", (_state, signedIn) => {
  const { text } = developerLayout({ title: "Keys", body: html`<p></p>`, signedIn });
  expect(text).toContain('<a href="/">Market</a>');
});
