// SPDX-License-Identifier: MIT
pragma solidity 0.8.24;

import {IERC2309} from "@openzeppelin/contracts/interfaces/IERC2309.sol";
import {Collection} from "./Collection.sol";

/// Mints ranges with a single `ConsecutiveTransfer` (ERC-2309), at any time and not only when created.
contract ConsecutiveCollection is Collection, IERC2309 {
    struct Range {
        uint256 end;
        address owner;
    }

    Range[] private ranges;
    mapping(uint256 id => bool) private left;

    constructor(string memory name, string memory symbol, address royaltyRecipient)
        Collection(name, symbol, royaltyRecipient)
    {}

    /// The next `count` ids, the first of all being 0.
    function mintConsecutive(address to, uint96 count) external {
        uint256 start = ranges.length == 0 ? 0 : ranges[ranges.length - 1].end;
        ranges.push(Range(start + count, to));
        _increaseBalance(to, count);
        emit ConsecutiveTransfer(start, start + count - 1, address(0), to);
    }

    function _ownerOf(uint256 id) internal view override returns (address) {
        address owner = super._ownerOf(id);
        if (owner != address(0) || left[id]) return owner;
        for (uint256 i; i < ranges.length; i++) if (id < ranges[i].end) return ranges[i].owner;
        return address(0);
    }

    function _update(address to, uint256 id, address auth) internal override returns (address from) {
        from = super._update(to, id, auth);
        left[id] = true;
    }
}
