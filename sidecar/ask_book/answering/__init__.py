"""From passages to an answer whose every claim is cited and checked."""
