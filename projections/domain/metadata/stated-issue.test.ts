import { expect, it } from "vitest";
import { statedIssue } from "./stated-issue.ts";

it.each([
  ["the document is not JSON", "the document is not JSON"],
  ["the contract's URI call reverted", "the contract's URI call reverted"],
  ["ftp: is not fetched", "ftp: is not fetched"],
  [
    "127.0.0.1:8080: HTTP 404; gateway.internal: timeout; gateway.internal:81: HTTP 404",
    "the host answered HTTP 404; the host did not answer in time",
  ],
  ["10.0.0.7:8080: larger than 1048576 bytes", "the document is larger than 1048576 bytes"],
  [
    "a.example: content-encoding gzip cannot be undone",
    "the document's gzip coding cannot be undone",
  ],
  [
    "a.example: the document is HTML or XML, not JSON; 127.0.0.1:8080: HTTP 404",
    "the document is HTML or XML, not JSON; the host answered HTTP 404",
  ],
  [
    "a.example: HTTP 404; tokenUri left out: longer than 2048 characters",
    "the host answered HTTP 404; tokenUri left out: longer than 2048 characters",
  ],
  ["a.example: more than 3 redirects", "the host redirects without end, or to an invalid address"],
  [
    "a.example: a.example is not on the public internet",
    "the address is not a public https address",
  ],
  ["a.example: http: is not allowed", "the address is not a public https address"],
  ["a.example: connect ECONNREFUSED 127.0.0.1:8080", "the host could not be reached"],
  ["a.example: getaddrinfo ENOTFOUND a.example", "the host could not be reached"],
])("a failure is shown without what is inside: %s", (recorded, stated) => {
  expect(statedIssue(recorded)).toBe(stated);
});
