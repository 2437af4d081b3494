import { expect, it } from "vitest";
import { html } from "../html/html.ts";
import { layout } from "./layout.ts";
import type { SignedIn } from "./page-handler.ts";

it.each([
  ["signed in", { formToken: "token" } as SignedIn],
  ["signed out", null],
])("leads back to the market: %s", (_state, signedIn) => {
  const { text } = layout({ title: "Keys", body: html`<p></p>`, signedIn });
  expect(text).toContain('<a href="/">Market</a>');
});
