/**
 * The script for every page: `<script type="module" src="https://…/assistant-chat.js" data-launcher></script>` gives a
 * button in the corner that opens the chat; without `data-launcher` it only defines `<assistant-chat>`, to be placed by
 * the page. The server is where the script came from, or `data-base`.
 */

import { AssistantLauncher } from './components/launcher';
import { scriptTag } from './home';

if (scriptTag && 'launcher' in scriptTag.dataset) document.body.append(new AssistantLauncher());
