import { connectAssistant } from './embed-host.js';

const getToken = async () => (await (await fetch('/token', { cache: 'no-store' })).json()).token;
connectAssistant(document.querySelector('#assistant'), { getToken, theme: 'light', locale: 'en' });
