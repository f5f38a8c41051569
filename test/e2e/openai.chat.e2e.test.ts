import { chat } from './conversations.js';
import { describeLoops } from './suite.js';

describeLoops(chat);
