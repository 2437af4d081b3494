import type { Hex } from "viem";

/**
 * Code of a contract that says that every address owns the token of its own number and has approved everything. It keeps
 * to what it says: after a transfer the recipient owns the token.
 */
export const everybodyOwns: Hex =
  "0x60003560e01c80636352211e14602e578063e985e9c514604257806323b872dd14604d576301ffc9a714605657005b600435805480159091020160005260206000f35b600160005260206000f35b60243560443555005b60043560e01c6380ac58cd1460005260206000f3";
