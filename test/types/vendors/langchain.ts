import { type BaseMessage, ToolMessage } from '@langchain/core/messages';
import { toLangChainFields } from '../../../examples/recipes/wire-shapes.js';
import { closed, closure } from './support.js';

export const messages: BaseMessage[] = toLangChainFields(closure, closed).map((fields) => new ToolMessage(fields));

// @ts-expect-error plain objects are no messages
export const direct: BaseMessage[] = toLangChainFields(closure, closed);
