import { createToolCallClosure, ToolCallClosure } from './closure.js';

export { createToolCallClosure, ToolCallClosure };

/** The two names of the package as one object, for `import closure from` and `require(…).default`. */
export default { ToolCallClosure, createToolCallClosure };

export type {
  AbortSignalLike,
  AcceptedSettlement,
  AnthropicToolResult,
  BatchHandle,
  BeginOptions,
  BeginResult,
  CallSnapshot,
  CancelledSettlement,
  ClosedSnapshot,
  CloseReason,
  CloseReasonInput,
  Diagnostic,
  ErrorSettlement,
  OpenAIFunctionCallOutput,
  OpenAIToolMessage,
  OpenSnapshot,
  OperationRejection,
  Outcome,
  OutcomeStatus,
  PendingCall,
  RefusalReason,
  ReportedFailure,
  ReportedSettlement,
  SettledCall,
  Settlement,
  SettlementResult,
  SideEffectState,
  Snapshot,
  SuccessSettlement,
  SyntheticSettlement,
  ToolCall,
  ToolCallClosureOptions,
  UnfinishedReason,
} from './types.js';
