#!/usr/bin/env perl
# A bot in Perl that speaks JSON Lines (docs/stdio.md). It needs only the modules that come with Perl.
#
#     arena bot --exec "perl bot.pl" --name camel
use strict;
use warnings;
use JSON::PP;

$| = 1;    # flush after each line: output to a pipe is buffered otherwise
my $json = JSON::PP->new;
my ( $game, $sign );

# Rate a move of Riskless. Armies above 0 are Maxie's, below 0 Minnie's. The best move takes the most armies from the enemy.
sub worth {
    my ( $move, $armies ) = @_;
    my ( $mine, $there ) = map { $sign * $armies->[$_] } @$move;
    return rand if $there > 0;                       # our own territory: only moves armies
    return 1 + rand if $there == 0;                  # an empty territory: gains it
    return $mine >= -$there ? 3 - $there : -1;       # an enemy territory: taken, or lost in vain
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
