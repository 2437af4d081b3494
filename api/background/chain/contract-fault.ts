/** Errors inside a contract as nodes phrase them; any other error is the node's own. */
const contractFault =
  /revert|out ?of ?gas|opcode|stack|jump|invalid ?memory|EVM|execution (error|aborted|timeout)|returndata|too large/i;

export function isContractFault({ code, message }: { code: number; message: string }): boolean {
  return code === 3 || contractFault.test(message);
}
