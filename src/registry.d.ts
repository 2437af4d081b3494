/// <reference types="ponder/virtual" />

// The types `ponder codegen` would write into the root, so that a fresh clone type-checks without running it.
declare module "ponder:internal" {
  const config: typeof import("../ponder.config.ts");
  const schema: typeof import("../ponder.schema.ts");
}

declare module "ponder:schema" {
  export * from "../ponder.schema.ts";
}
