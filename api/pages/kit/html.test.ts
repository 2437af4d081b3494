import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Html, html } from "./html.ts";

describe("html", () => {
  it("escapes every text that is put into it, in elements and in attributes", () => {
    expect(html`<a title="${`"'\``}">${"<script>&"}</a>`.text).toBe(
      '<a title="&#34;&#39;&#96;">&#60;script&#62;&#38;</a>',
    );
  });

  it("lets no text open or close anything", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(html`${text}`.text).not.toMatch(/[<>"'`]|&(?!#\d+;)/);
      }),
    );
  });

  it("writes every character beyond Latin-1 as a reference, its own and those of texts", () => {
    expect(html`<p title="→">…${"🦊 é"}</p>`.text).toBe(
      '<p title="&#8594;">&#8230;&#129418; é</p>',
    );
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const made = html`${text}`.text;
        const shown = made.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
        return /^[\0-\xff]*$/.test(made) && shown === text;
      }),
    );
  });

  it("takes HTML as it is, joins lists, and leaves out what is not there", () => {
    const items = ["a", "<"].map((item) => html`<li>${item}</li>`);

    expect(html`<ul>${items}</ul>${null}${undefined}${false}${0}`).toEqual(
      new Html("<ul><li>a</li><li>&#60;</li></ul>0"),
    );
  });
});
