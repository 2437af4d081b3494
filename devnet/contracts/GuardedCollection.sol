// SPDX-License-Identifier: MIT
pragma solidity 0.8.24;

import {Collection} from "./Collection.sol";
import {TransferValidator} from "./TransferValidator.sol";

/// Asks a validator before every transfer, as Limit Break's ICreatorToken does.
contract GuardedCollection is Collection {
    TransferValidator private validator;

    event TransferValidatorUpdated(address oldValidator, address newValidator);

    constructor(string memory name, string memory symbol, address royaltyRecipient, TransferValidator validator_)
        Collection(name, symbol, royaltyRecipient)
    {
        setTransferValidator(validator_);
    }

    function setTransferValidator(TransferValidator validator_) public {
        emit TransferValidatorUpdated(address(validator), address(validator_));
        validator = validator_;
    }

    function getTransferValidator() external view returns (address) {
        return address(validator);
    }

    function getTransferValidationFunction() external pure returns (bytes4 selector, bool isView) {
        return (bytes4(keccak256("validateTransfer(address,address,address,uint256)")), true);
    }

    function _update(address to, uint256 id, address auth) internal override returns (address from) {
        from = super._update(to, id, auth);
        bool isTransfer = from != address(0) && to != address(0);
        if (isTransfer && address(validator) != address(0)) validator.validateTransfer(msg.sender, from, to, id);
    }
}
