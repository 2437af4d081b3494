import { describe, expect, it } from "vitest";
import { jsonText, writeOnce } from "./answer.ts";

const row = (id: number) => ({ id, name: `"ü\u2028${id}`, price: null, at: new Date(0) });

describe("the text of a body", () => {
  it("is that of JSON.stringify, whichever of its rows were written before", () => {
    const rows = [row(1), row(2), row(3)];
    const bodies = [
      { success: true, data: rows, meta: { total: 3, next_cursor: null } },
      { success: true, data: [], total: 0 },
      { success: true, data: rows[1], meta: undefined },
      { 'a "b"': [undefined, null, "x", rows], data: rows },
    ];
    const texts = bodies.map((body) => JSON.stringify(body));
    for (const one of [rows[1], rows[0], rows[2]]) {
      expect(bodies.map(jsonText)).toEqual(texts);
      expect(writeOnce(one ?? {})).toBe(JSON.stringify(one));
    }
    expect(bodies.map(jsonText)).toEqual(texts);
  });

  it("is kept only of what does not change any more", () => {
    const written = row(1);
    writeOnce(written);
    expect(() => Object.assign(written, { id: 2 })).toThrow(TypeError);
  });
});
