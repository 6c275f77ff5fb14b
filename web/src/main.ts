/** The page of the server itself: one chat that fills the window. */

import './components/chat';
import './page.css';
