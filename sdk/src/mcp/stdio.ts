#!/usr/bin/env node
import { forwardMessages } from "./forward.ts";

/** What Node has; nothing else of the package needs Node. */
declare const process: {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  exitCode?: number;
};

const { ORDER_BOOK_URL, ORDER_BOOK_KEY: key } = process.env;
const url = process.argv[2] ?? ORDER_BOOK_URL;

if (url === undefined || !URL.canParse(url)) {
  process.stderr.write(
    "usage: order-book-mcp <address of the API>, or ORDER_BOOK_URL; a key in ORDER_BOOK_KEY\n",
  );
  process.exitCode = 2;
} else {
  const write = (line: string) => process.stdout.write(line);
  await forwardMessages(process.stdin, { url, key, write });
}
