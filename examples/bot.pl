#!/usr/bin/env perl
# A bot in Perl, by lines of JSON (docs/stdio.md), with nothing but what comes with Perl.
#
#     arena bot --exec "perl bot.pl" --name camel
use strict;
use warnings;
use JSON::PP;

$| = 1;    # a pipe is not a terminal: unflushed, the answer stays here
my $json = JSON::PP->new;
my ( $game, $sign );

# Riskless: armies above 0 are Maxie's, below 0 Minnie's; taking the most from the enemy is worth most.
sub worth {
    my ( $move, $armies ) = @_;
    my ( $mine, $there ) = map { $sign * $armies->[$_] } @$move;
    return rand if $there > 0;                       # our own: only moves armies about
    return 1 + rand if $there == 0;                  # nobody's: one territory more
    return $mine >= -$there ? 3 - $there : -1;       # theirs: taken, or in vain
}

while ( my $line = <STDIN> ) {
    my $message = $json->decode($line);
    if ( $message->{type} eq 'start' ) {
        ( $game, $sign ) = ( $message->{game}, $message->{seat} eq 'maxie' ? 1 : -1 );
        print $json->encode( { ready => JSON::PP::true } ), "\n";
    }
    elsif ( $message->{type} eq 'turn' ) {
        my @legal = @{ $message->{legal} };
        my $move  = $legal[ rand @legal ];
        if ( $game eq 'riskless' ) {
            my $armies = $message->{position}{armies};
            my %worth  = map { ( "@$_" => worth( $_, $armies ) ) } @legal;
            ($move) = sort { $worth{"@$b"} <=> $worth{"@$a"} } @legal;
        }
        print $json->encode( { move => $move } ), "\n";
    }
    elsif ( $message->{type} eq 'end' ) {
        print STDERR "$message->{detail}\n";
    }
}
