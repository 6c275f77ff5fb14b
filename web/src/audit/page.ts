/** The script of the audit page, and of other pages that hold `<assistant-audit>`; built apart from that of the chat. */

import './audit';
