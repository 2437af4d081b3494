// SPDX-License-Identifier: MIT
pragma solidity 0.8.24;

/// Blocks operators; owners who move their own tokens pass. Surface and error of Limit Break's validators.
contract TransferValidator {
    mapping(address operator => bool) public isBlocked;

    error CreatorTokenTransferValidator__CallerMustBeWhitelisted();

    constructor(address blockedOperator) {
        isBlocked[blockedOperator] = true;
    }

    function setBlocked(address operator, bool blocked) external {
        isBlocked[operator] = blocked;
    }

    function validateTransfer(address caller, address, address) public view {
        if (isBlocked[caller]) revert CreatorTokenTransferValidator__CallerMustBeWhitelisted();
    }

    function validateTransfer(address caller, address from, address to, uint256) external view {
        validateTransfer(caller, from, to);
    }

    function validateTransfer(address caller, address from, address to, uint256, uint256) external view {
        validateTransfer(caller, from, to);
    }
}
